import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { Gateway } from './gateway.ts';
import { openState } from './open-state.ts';
import { makeFrontend, type Frontend } from '../protocol/frontend.ts';
import { FakeWorld, Mortality } from './testing/fake-world.ts';
import { UpdateReader, type Update } from '../protocol/update.ts';
import { writeState } from '../protocol/write-update.ts';

const { signal } = new AbortController();
let directory: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-doubt-'));
  await fs.mkdir(path.join(directory, 'run'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

function frontend(last: number): Frontend {
  const destinations = [{ address: parseAddress('10.0.0.1'), port: parsePort(8080), weight: 1 }];
  return makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    destinations,
  });
}

function update(generation: number, ...frontends: Frontend[]): Update {
  const reader = new UpdateReader();
  const content = { frontends, policies: [], assignments: [], nodes: [] };
  for (const line of writeState(content, { generation })) reader.line(line);
  return reader.result();
}

/** Starts an agent on the files and the simulated machine that earlier processes left. */
async function startAgent(world: FakeWorld) {
  const { opened, overrides, mark, doubt } = await openState(
    {
      stateDirectory: path.join(directory, 'state'),
      runtimeDirectory: path.join(directory, 'run'),
    },
    discardLog,
  );
  const { store, stored } = opened;
  const gateway = new Gateway({
    ruleset: world.ruleset(new Mortality()),
    announcer: world.announcer(new Mortality()),
    store,
    stored,
    overrides,
    mark,
    doubt,
    limits: { share: 0.5, count: 20 },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    deleteConnections: () => Promise.resolve(),
    deleteStaleEntries: () => Promise.resolve(),
  });
  await gateway.restore(signal);
  const push = (each: Update) =>
    gateway.push(`digest ${each.header.generation}`, () => each, signal);
  return { gateway, push, close: () => store.close() };
}

const accepted = () => path.join(directory, 'state', 'accepted');

/** An agent that has applied two updates and has ended. */
async function ran(world: FakeWorld): Promise<void> {
  const agent = await startAgent(world);
  await agent.push(update(1, frontend(1)));
  await agent.push(update(2, frontend(1), frontend(2)));
  await agent.close();
}

const damages: readonly [string, () => Promise<unknown>][] = [
  ['empty', () => fs.writeFile(accepted(), '')],
  ['moved away', () => fs.rm(accepted())],
  ['full of other bytes', () => fs.writeFile(accepted(), Buffer.alloc(999, 7))],
  [
    'truncated',
    async () => {
      const text = await fs.readFile(accepted(), 'utf8');
      await fs.writeFile(accepted(), text.slice(0, text.lastIndexOf('{"step"')));
    },
  ],
];

describe('an agent whose stored configuration is', () => {
  test.each(damages)('%s keeps rules and addresses until an update arrives', async (_, damage) => {
    const world = new FakeWorld();
    await ran(world);
    const before = world.describe();
    await damage();
    for (let restart = 0; restart < 2; restart += 1) {
      const agent = await startAgent(world);
      expect(agent.gateway.doubt).toBeDefined();
      expect(agent.gateway.isDegraded).toBe(false);
      await agent.gateway.setUnhealthy(new Set([parseAddress('10.0.0.1')]), signal);
      await expect(agent.gateway.undo('a mistake', signal)).rejects.toMatchObject({
        code: 'unavailable',
      });
      expect(world.describe()).toBe(before);
      await agent.close();
    }
    const agent = await startAgent(world);
    await agent.push(update(3, frontend(2), frontend(3)));
    expect(agent.gateway.doubt).toBeUndefined();
    expect([...world.announced].sort()).toEqual(['192.0.2.2', '192.0.2.3']);
    await agent.close();
    const again = await startAgent(world);
    expect(again.gateway.doubt).toBeUndefined();
    expect(again.gateway.state.generation).toBe(3);
    await again.close();
  });

  test('damaged after a reboot serves the newest good state and waits for an update', async () => {
    await ran(new FakeWorld());
    const text = await fs.readFile(accepted(), 'utf8');
    await fs.writeFile(accepted(), `${text}?\n{"step"\n`);
    await fs.rm(path.join(directory, 'run', 'applied-generation'));
    const world = new FakeWorld();
    const agent = await startAgent(world);
    expect([...world.announced].sort()).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(agent.gateway.doubt).toBeDefined();
    // The controller sends the full state to a gateway with a generation that it did not confirm.
    expect(agent.gateway.state.generation).toBe(1);
    await agent.push(update(2, frontend(1), frontend(2)));
    expect(agent.gateway.doubt).toBeUndefined();
    await agent.close();
  });
});

test('an agent on a full disk applies updates, keeps them over a restart, and stores them later', async () => {
  const world = new FakeWorld();
  await ran(world);
  const agent = await startAgent(world);
  const open = fs.open.bind(fs);
  const failing = vi
    .spyOn(fs, 'open')
    .mockImplementation((file, ...rest) =>
      String(file).startsWith(accepted())
        ? Promise.reject(new Error('ENOSPC: no space left on device'))
        : open(file, ...rest),
    );
  await agent.push(update(3, frontend(3)));
  expect([...world.announced]).toEqual(['192.0.2.3']);
  expect(agent.gateway.storeProblem).toContain('ENOSPC');
  await expect(agent.gateway.compactIfNeeded()).rejects.toThrow('ENOSPC');
  failing.mockRestore();

  const restarted = await startAgent(world);
  expect([...world.announced]).toEqual(['192.0.2.3']);
  expect(restarted.gateway.doubt).toContain('generation 3 was applied');
  await restarted.close();

  await agent.gateway.compactIfNeeded();
  expect(agent.gateway.storeProblem).toBeUndefined();
  await agent.close();
  const again = await startAgent(world);
  expect(again.gateway.doubt).toBeUndefined();
  expect(again.gateway.state.generation).toBe(3);
  await again.close();
});
