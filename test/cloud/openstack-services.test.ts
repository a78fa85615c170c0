import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { request } from 'undici';
import { isAvailable } from '../services/missing.ts';
import { prepareOpenStack, startOpenStack } from '../services/openstack.ts';
import { removeDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';

const available = await isAvailable(() => prepareOpenStack());

/** Processes with the directory in their command line. */
async function processesIn(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await fs.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const commandLine = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const environment = await fs.readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (commandLine.includes(directory) || environment.includes(directory)) found.push(pid);
  }
  return found;
}

const untilNothingRunsIn = (directory: string) =>
  waitFor('its services to be gone', async () => (await processesIn(directory)).length === 0);

async function statusOf(url: string): Promise<number> {
  const answer = await request(url);
  await answer.body.dump();
  return answer.statusCode;
}

describe.skipIf(!available)('the real OpenStack services of the tests', () => {
  it('stop without leftovers, and a restarted service keeps its port and its data', async () => {
    const cloud = await startOpenStack();
    try {
      expect((await processesIn(cloud.directory)).length).toBeGreaterThanOrEqual(4);
      await cloud.restart('keystone', 'SIGKILL');
      expect(await statusOf(cloud.authUrl)).toBe(200);
      await cloud.stopService('octavia');
      await expect(request(cloud.loadBalancerUrl)).rejects.toThrow();
    } finally {
      await cloud.stop();
    }
    await untilNothingRunsIn(cloud.directory);
    await expect(fs.access(cloud.directory)).rejects.toThrow();
  });

  it('end with the process that started them, even if that is killed', async () => {
    const program = `
      const { startOpenStack } = await import(${JSON.stringify(`${import.meta.dirname}/../services/openstack.ts`)});
      console.log((await startOpenStack()).directory);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines = createInterface(child.stdout);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`it ended with ${code}`);
    });
    const [directory] = (await Promise.race([once(lines, 'line'), ended])) as [string];
    expect((await processesIn(directory)).length).toBeGreaterThanOrEqual(4);
    child.kill('SIGKILL');
    await untilNothingRunsIn(directory);
    await removeDirectory(directory);
  });
});
