import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../packages/fake-openstack/src/cloud.ts';
import { ensureDebianPackages } from '../services/debian-packages.ts';
import { isAvailable } from '../services/missing.ts';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const program = '/usr/bin/openstack';
/** Keystone installs the command without its plugin for load balancers. */
const packages = ['python3-openstackclient', 'python3-octaviaclient'];
const isHere = await isAvailable(() => ensureDebianPackages(packages));

describe.skipIf(!isHere)('the embedded cloud under the openstack command', () => {
  let cloud: EmbeddedOpenStack;
  let directory: string;
  beforeAll(async () => {
    cloud = await startEmbeddedOpenStack();
    directory = await scratchDirectory('openstack-command');
    await fs.writeFile(path.join(directory, 'clouds.yaml'), cloud.cloudsYaml);
  });
  afterAll(async () => {
    await cloud.stop();
    await removeDirectory(directory);
  });

  const openstack = async (...args: string[]): Promise<Record<string, unknown>> => {
    const result = await runProgram(program, ['--os-cloud', 'demo', ...args, '-f', 'json'], {
      cwd: directory,
      env: { PYTHONWARNINGS: 'ignore', no_proxy: '127.0.0.1' },
    });
    expect(result.code, result.stderr).toBe(0);
    return JSON.parse(result.stdout) as Record<string, unknown>;
  };

  it('signs in', async () => {
    const token = await openstack('token', 'issue');
    expect(cloud.keystone.tokens.find(String(token['id']))?.user.name).toBe('demo');
  });

  it('makes ports and floating IPs', async () => {
    const port = await openstack('port', 'create', '--network', 'private', 'mine');
    const floating = await openstack(
      ...['floating', 'ip', 'create', 'public', '--port', 'mine', '--description', 'mine'],
    );
    expect(floating['port_id']).toBe(port['id']);
    const [listed] = Object.values(await openstack('floating', 'ip', 'list'));
    expect(listed).toMatchObject({ 'Floating IP Address': floating['floating_ip_address'] });
  });

  it('makes load balancers and waits for them', async () => {
    const made = await openstack(
      ...['loadbalancer', 'create', '--name', 'web', '--vip-subnet-id', 'private-v4', '--wait'],
    );
    expect(made['provisioning_status']).toBe('ACTIVE');
    const listener = await openstack(
      ...['loadbalancer', 'listener', 'create', '--name', 'http', '--wait'],
      ...['--protocol', 'TCP', '--protocol-port', '80', 'web'],
    );
    expect(cloud.octavia.listeners.get(String(listener['id']))?.provisioning_status).toBe('ACTIVE');
  });
});
