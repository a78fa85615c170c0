import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { runAgent } from './agent.ts';
import { HttpAgentClient } from '../protocol/agent-client.ts';
import type { Kernel } from './kernel.ts';
import { agentSettings, socketFile } from './settings.ts';
import { FakeWorld, Mortality } from './testing/fake-world.ts';

const secret = Buffer.from('a secret of enough bytes');
let directory: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-agent-'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

function kernelOf(world: FakeWorld): Kernel {
  const life = new Mortality();
  return {
    ruleset: world.ruleset(life),
    layout: {
      table: 'causeway',
      hashSeed: 1,
      localSources: [],
      hairpin: false,
      resumeConnections: true,
    },
    deleteConnections: () => Promise.resolve(),
    deleteAllConnections: () => Promise.resolve(),
    deleteStaleEntries: () => Promise.resolve(),
    async *foreignChanges(signal) {
      await whenAborted(signal);
      yield* [];
    },
    counters: () => Promise.resolve(new Map()),
    check: () => Promise.resolve(),
    settings: () => [],
    notFailoverSafe: () => [],
    elements: () => 0,
    countConnections: () => Promise.resolve([]),
    connections: () => null,
  };
}

test("an agent that can't restore its configuration still listens, reports the failure and retries", async () => {
  const stop = new AbortController();
  const secretsFile = path.join(directory, 'secrets');
  await fs.writeFile(secretsFile, secret.toString('base64'));
  const settings = agentSettings.parse({
    name: 'g1',
    secretsFile,
    listen: { address: '127.0.0.1', port: 0 },
    stateDirectory: path.join(directory, 'state'),
    runtimeDirectory: path.join(directory, 'run'),
    addresses: { mover: 'foreign' },
    probe: { intervalMs: 0 },
  });
  const world = new FakeWorld();
  let isBroken = true;
  const clear = world.services.clear.bind(world.services);
  world.services.clear = () => {
    if (isBroken) throw new Error('the kernel refuses');
    clear();
  };
  const ready = Promise.withResolvers<string>();
  const running = runAgent(
    {
      settings,
      kernel: kernelOf(world),
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
      version: '0',
      metricsPage: () => Promise.resolve({ type: 'text/plain', body: '' }),
      onReady: (url) => ready.resolve(url),
    },
    stop.signal,
  );
  const url = await Promise.race([ready.promise, running.then(() => 'ended')]);
  const client = new HttpAgentClient({
    url,
    name: 'g1',
    secret,
    clock: systemClock,
    limitMs: 20_000,
    socketPath: socketFile(settings),
  });
  expect(await client.status(stop.signal)).toMatchObject({ sound: false });
  isBroken = false;
  await vi.waitFor(
    async () => expect(await client.status(stop.signal)).toMatchObject({ sound: true }),
    { timeout: 120_000, interval: 50 },
  );
  await client.close();
  stop.abort();
  await running;
}, 180_000);
