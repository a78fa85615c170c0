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
    sharedFrontends: () => [],
    elements: () => 0,
    countConnections: () => Promise.resolve([]),
    connections: () => null,
    pinned: {
      services: world.services,
      nodes: [],
      servicesSharing: () => [],
      follow: () => {},
      writePins: () => Promise.resolve(),
    },
    followConnections: (_listener, signal) => whenAborted(signal),
    listConnections: () => Promise.resolve(),
  };
}

async function settingsHere() {
  const secretsFile = path.join(directory, 'secrets');
  await fs.writeFile(secretsFile, secret.toString('base64'));
  return agentSettings.parse({
    name: 'g1',
    secretsFile,
    listen: { address: '127.0.0.1', port: 0 },
    stateDirectory: path.join(directory, 'state'),
    runtimeDirectory: path.join(directory, 'run'),
    addresses: { mover: 'foreign' },
    probe: { intervalMs: 0 },
  });
}

/** Starts an agent and a client of it. */
async function start(world: FakeWorld) {
  const stop = new AbortController();
  const settings = await settingsHere();
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
  const end = async () => {
    await client.close();
    stop.abort();
    await running;
  };
  return { status: () => client.status(stop.signal), end };
}

test("an agent that can't restore its configuration still listens, reports the failure and retries", async () => {
  const world = new FakeWorld();
  let isBroken = true;
  const clear = world.services.clear.bind(world.services);
  world.services.clear = () => {
    if (isBroken) throw new Error('the kernel refuses');
    clear();
  };
  const { status, end } = await start(world);
  expect(await status()).toMatchObject({ sound: false });
  isBroken = false;
  await vi.waitFor(async () => expect(await status()).toMatchObject({ sound: true }), {
    timeout: 120_000,
    interval: 50,
  });
  await end();
}, 180_000);

test('an agent with damaged files starts, and its alarms name them', async () => {
  const state = path.join(directory, 'state');
  await fs.mkdir(state);
  for (const file of ['accepted', 'overrides.json', 'answers.json']) {
    await fs.writeFile(path.join(state, file), '\0damaged\n{"step"\n');
  }
  const { status, end } = await start(new FakeWorld());
  const { alarms } = await status();
  expect(alarms).toEqual([expect.stringMatching(/^state-damaged: .*accepted.*overrides\.json/)]);
  await end();
  expect((await fs.readdir(state)).filter((name) => name.endsWith('.damaged-1')).sort()).toEqual([
    'accepted.damaged-1',
    'overrides.json.damaged-1',
  ]);
}, 60_000);

test('an agent without a writable state directory starts, and an alarm names it', async () => {
  await fs.writeFile(path.join(directory, 'state'), 'not a directory');
  const { status, end } = await start(new FakeWorld());
  const { alarms } = await status();
  expect(alarms.some((text) => text.startsWith('state-not-stored: '))).toBe(true);
  await end();
}, 60_000);
