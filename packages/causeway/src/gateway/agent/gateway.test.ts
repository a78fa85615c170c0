import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort, type Protocol } from '@causeway/base/address/port';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { Gateway } from './gateway.ts';
import { Overrides } from './overrides.ts';
import {
  frontendKey,
  makeFrontend,
  type Frontend,
  type FrontendKey,
} from '../protocol/frontend.ts';
import { StateStore } from './store/state-store.ts';
import { FakeWorld, Mortality } from './testing/fake-world.ts';
import { UpdateReader, type Update } from '../protocol/update.ts';
import { writeState } from '../protocol/write-update.ts';

const { signal } = new AbortController();
let directory: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-gateway-'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

function frontend(last: number, ...to: string[]): Frontend {
  return frontendOf('TCP', last, to);
}

function frontendOf(protocol: Protocol, last: number, to: readonly string[]): Frontend {
  return makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol,
    port: parsePort(80),
    destinations: to.map((address) => ({
      address: parseAddress(address),
      port: parsePort(8080),
      weight: 1,
    })),
  });
}

function pushOf(generation: number, ...frontends: Frontend[]): Update {
  const reader = new UpdateReader();
  const content = { frontends, policies: [], assignments: [], nodes: [] };
  for (const line of writeState(content, { generation })) reader.line(line);
  return reader.result();
}

/** Starts an agent on the directory and the simulated machine that earlier processes left. */
async function startAgent(
  world: FakeWorld,
  life = new Mortality(),
  unhealthy: ReadonlySet<Address> = new Set(),
) {
  const { store, stored } = await StateStore.open(directory);
  const append = store.append.bind(store);
  store.append = (step) => life.call('persist', () => append(step));
  const stale: string[] = [];
  const overrides = await Overrides.load(path.join(directory, 'overrides.json'));
  const gateway = new Gateway({
    ruleset: world.ruleset(life),
    announcer: world.announcer(life),
    store,
    stored,
    overrides,
    limits: { share: 0.5, count: 20 },
    unhealthy,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    deleteConnections: () => Promise.resolve(),
    deleteStaleEntries: async (services) => {
      stale.push(...services.map(({ address }) => address));
    },
  });
  const push = (each: Update) =>
    gateway.push(`digest ${each.header.generation}`, () => each, signal);
  return { gateway, push, overrides, stale, close: () => store.close() };
}

const old = [frontend(1, '10.0.0.1'), frontend(2, '10.0.0.1', '10.0.0.2'), frontend(3, '10.0.0.3')];
/** One frontend changed, one removed with its address, one added with a new address, one unchanged. */
const wanted = [frontend(2, '10.0.0.2'), frontend(3, '10.0.0.3'), frontend(4, '10.0.0.4')];

describe('the gateway', () => {
  test('is in the old or the new state after a crash at any moment of an apply', async () => {
    const reference = async (frontends: Frontend[]) => {
      const world = new FakeWorld();
      const agent = await startAgent(world);
      await agent.push(pushOf(1, ...frontends));
      await agent.close();
      await fs.rm(path.join(directory, 'accepted'));
      return world.describe();
    };
    const outcomes = { old: await reference(old), new: await reference(wanted) };
    const seen: string[] = [];
    let moments = 0;
    for (let isOver = false; !isOver; moments += 1) {
      const world = new FakeWorld();
      const before = await startAgent(world);
      await before.push(pushOf(1, ...old));
      await before.close();
      const life = new Mortality(moments);
      const victim = await startAgent(world, life);
      try {
        await victim.gateway.restore(signal);
        await victim.push(pushOf(2, ...wanted));
        isOver = true;
      } catch {
        expect(life.calls).toHaveLength(moments);
      }
      await victim.close();
      const survivor = await startAgent(world);
      await survivor.gateway.restore(signal);
      const generation = survivor.gateway.state.generation;
      expect(world.describe()).toBe(generation === 2 ? outcomes.new : outcomes.old);
      seen.push(generation === 2 ? 'new' : 'old');
      await survivor.close();
      await fs.rm(path.join(directory, 'accepted'));
    }
    // Two moments for each call: replace all, announce, test, commit, announce, commit, persist. Then no
    // further one.
    expect(moments).toBeGreaterThan(12);
    expect(new Set(seen)).toEqual(new Set(['old', 'new']));
    expect(seen.join()).toMatch(/^(?:old,?)+(?:new,?)+$/);
  });

  test.each(['test', 'commit', 'announce'])('rolls back when %s fails', async (name) => {
    const world = new FakeWorld();
    const agent = await startAgent(world);
    await agent.push(pushOf(1, ...old));
    const before = world.describe();
    world.failures.add(name);
    await expect(agent.push(pushOf(2, ...wanted))).rejects.toMatchObject({ code: 'unavailable' });
    expect(world.describe()).toBe(before);
    expect(agent.gateway.state.generation).toBe(1);
    await agent.push(pushOf(2, ...wanted));
    expect(agent.gateway.state.generation).toBe(2);
    await agent.close();
  });

  test('deletes stale flows that an earlier process may have left', async () => {
    const world = new FakeWorld();
    const first = await startAgent(world);
    await first.push(pushOf(1, frontend(1, '10.0.0.1'), frontendOf('UDP', 2, ['10.0.0.1'])));
    await first.close();
    const second = await startAgent(world);
    await second.gateway.restore(signal);
    await second.gateway.idle();
    expect(second.stale).toEqual(['192.0.2.2']);
    await second.close();
  });

  test('restores the accepted configuration first after a failed rollback', async () => {
    const world = new FakeWorld();
    const agent = await startAgent(world);
    await agent.push(pushOf(1, ...old));
    const before = world.describe();
    world.failures.add('announce');
    const commit = world.services.delete.bind(world.services);
    let isBroken = true;
    world.services.delete = (key) => {
      if (isBroken) throw new Error('no rollback');
      return commit(key);
    };
    await expect(agent.push(pushOf(2, ...wanted))).rejects.toThrow('so did its rollback');
    expect(agent.gateway.isDegraded).toBe(true);
    isBroken = false;
    await agent.gateway.restore(signal);
    expect(world.describe()).toBe(before);
    await agent.close();
  });

  test('writes nothing to the kernel for an update without changes', async () => {
    const world = new FakeWorld();
    const agent = await startAgent(world);
    await agent.push(pushOf(1, ...old));
    const { commits } = world;
    await expect(agent.push(pushOf(2, ...old))).resolves.toMatchObject({
      generation: 2,
      committed: false,
    });
    expect(world.commits).toBe(commits);
    await agent.close();
  });

  test('undoes step by step, freezes the gateway, and rejects deltas against the undone state', async () => {
    const world = new FakeWorld();
    const first = await startAgent(world);
    await first.push(pushOf(1, ...old));
    const before = world.describe();
    await first.push(pushOf(2, ...wanted));
    await first.close();
    const agent = await startAgent(world);
    await agent.gateway.undo('a bad release', signal);
    expect(world.describe()).toBe(before);
    expect(agent.gateway.state.generation).toBe(3);
    await expect(agent.push(pushOf(4, ...wanted))).rejects.toMatchObject({ reason: 'frozen' });
    await agent.gateway.undo('worse', signal);
    expect(world.services.size).toBe(0);
    await expect(agent.gateway.undo('too far', signal)).rejects.toMatchObject({
      code: 'not-found',
    });
    await agent.close();
  });

  test('sends nothing to a backend that was unhealthy before its start', async () => {
    const world = new FakeWorld();
    const before = await startAgent(world);
    await before.push(pushOf(1, frontend(2, '10.0.0.1', '10.0.0.2')));
    await before.close();
    const dead = new Set([parseAddress('10.0.0.1')]);
    const agent = await startAgent(world, new Mortality(), dead);
    await agent.gateway.restore(signal);
    expect([...world.services.values()]).toMatchObject([
      { dispatch: { kind: 'slots', backends: [{ address: '10.0.0.2' }] } },
    ]);
    expect(agent.gateway.unhealthy).toEqual(dead);
    await agent.close();
  });

  test('withholds a mass removal unless an operator allows it, and allows only one', async () => {
    const many = Array.from({ length: 50 }, (_, index) => frontend(index + 1, '10.0.0.1'));
    const world = new FakeWorld();
    const agent = await startAgent(world);
    await agent.push(pushOf(1, ...many));
    expect((await agent.push(pushOf(2))).withheld).toHaveLength(50);
    expect(world.services.size).toBe(50);
    await agent.push(pushOf(3, ...many));
    await agent.overrides.set('removal', { since: 0, reason: 'the tests are gone' });
    // An update that needs no permission does not use it up, and neither does a failed one.
    await agent.push(pushOf(4, ...many.slice(1)));
    world.failures.add('announce');
    await expect(agent.push(pushOf(5))).rejects.toThrow('announce failed');
    expect(agent.overrides.get('removal')).toBeDefined();
    await agent.push(pushOf(6));
    expect(world.services.size).toBe(0);
    expect(agent.overrides.get('removal')).toBeUndefined();
    await agent.push(pushOf(7, ...many));
    expect((await agent.push(pushOf(8))).withheld).toHaveLength(50);
    const permission = { since: 0, reason: 'the tests are gone' };
    await agent.overrides.set('removal', permission);
    await agent.gateway.releaseRemovals();
    expect(world.services.size).toBe(0);
    expect(agent.overrides.get('removal')).toBeUndefined();
    // If nothing is withheld, the permission stays for the next update.
    await agent.overrides.set('removal', permission);
    await agent.gateway.releaseRemovals();
    expect(agent.overrides.get('removal')).toEqual(permission);
    await agent.close();
  });

  test('keeps withheld removals over a restart, and applies exactly the confirmed ones', async () => {
    const many = Array.from({ length: 30 }, (_, index) => frontend(index + 1, '10.0.0.1'));
    const keys = many.map(frontendKey);
    const world = new FakeWorld();
    const first = await startAgent(world);
    await first.push(pushOf(1, ...many));
    const added = frontend(99, '10.0.0.9');
    expect(await first.push(pushOf(2, added))).toMatchObject({ generation: 2, committed: true });
    expect(world.services.size).toBe(31);
    await first.close();

    const agent = await startAgent(world);
    await agent.gateway.restore(signal);
    expect(world.services.size).toBe(31);
    const confirm = (generation: number, ...frontends: FrontendKey[]) =>
      agent.gateway.confirmRemovals(
        { generation, cluster: undefined, frontends: new Set(frontends) },
        signal,
      );
    await expect(confirm(1, ...keys)).rejects.toMatchObject({ reason: 'base-mismatch' });
    // A frontend that is not withheld is not removed, even if a confirmation names it.
    const answer = await confirm(2, frontendKey(added), ...keys.slice(1));
    expect(answer.withheld).toMatchObject([{ address: many[0]?.address, generation: 1 }]);
    expect([...world.services.keys()].sort()).toHaveLength(2);
    expect(answer.generation).toBe(2);
    // A delta is based on the generation of the update.
    const delta = {
      ...pushOf(3),
      header: { ...pushOf(3).header, kind: 'delta' as const, base: 2 },
    };
    expect((await agent.push(delta)).withheld).toHaveLength(1);
    await agent.overrides.set('frozen', { since: 0, reason: 'maintenance' });
    await expect(confirm(3, ...keys)).rejects.toMatchObject({ reason: 'frozen' });
    await agent.close();
  });

  test('rejects a confirmation from the controller of another cluster', async () => {
    const many = Array.from({ length: 30 }, (_, index) => frontend(index + 1, '10.0.0.1'));
    const of = (cluster: string, push: Update) => ({
      ...push,
      header: { ...push.header, cluster },
    });
    const agent = await startAgent(new FakeWorld());
    await agent.push(of('one', pushOf(1, ...many)));
    await agent.push(of('two', pushOf(2)));
    const confirm = (cluster: string) =>
      agent.gateway.confirmRemovals(
        { generation: 2, cluster, frontends: new Set(many.map(frontendKey)) },
        signal,
      );
    await expect(confirm('two')).rejects.toMatchObject({
      reason: 'another-cluster',
      hint: expect.stringContaining('allow-removal'),
    });
    expect((await confirm('one')).older).toEqual([]);
    // Nothing is withheld any more: the next update sets the cluster.
    await agent.push(of('two', pushOf(3, ...many)));
    expect(agent.gateway.state.cluster).toBe('two');
    await agent.close();
  });

  test('removes unhealthy backends, but never the last one of a frontend', async () => {
    const world = new FakeWorld();
    const agent = await startAgent(world);
    await agent.push(pushOf(1, ...old));
    const destinations = (last: number) => {
      const service = [...world.services.values()].find(({ address }) =>
        address.endsWith(`.${last}`),
      );
      return service?.dispatch.kind === 'slots'
        ? service.dispatch.backends.map(({ address }) => address)
        : [];
    };
    await agent.gateway.setUnhealthy(new Set([parseAddress('10.0.0.1')]), signal);
    expect(destinations(2)).toEqual(['10.0.0.2']);
    expect(destinations(1)).toEqual(['10.0.0.1']);
    await agent.gateway.setUnhealthy(new Set(), signal);
    expect(destinations(2)).toEqual(['10.0.0.1', '10.0.0.2']);
    await agent.close();
  });

  test('keeps all backends when only some of the tables could be written', async () => {
    const world = new FakeWorld();
    const working = world.ruleset.bind(world);
    let failures = 0;
    world.ruleset = (life) => {
      const ruleset = working(life);
      return {
        isPresent: (each) => ruleset.isPresent(each),
        replaceAll: (layout, each) => ruleset.replaceAll(layout, each),
        async commit(change, each) {
          const committed = await ruleset.commit(change, each);
          if (failures-- > 0) throw new Error('the second table is full');
          return committed;
        },
      };
    };
    const agent = await startAgent(world);
    await agent.push(pushOf(1, ...old));
    const before = world.describe();
    failures = 1;
    const unhealthy = new Set([parseAddress('10.0.0.1')]);
    await expect(agent.gateway.setUnhealthy(unhealthy, signal)).rejects.toThrow('full');
    expect(world.describe()).toBe(before);
    expect(agent.gateway.isDegraded).toBe(false);
    // If the rollback also fails, the next attempt first repairs the kernel.
    failures = 2;
    await expect(agent.gateway.setUnhealthy(unhealthy, signal)).rejects.toThrow('full');
    expect(agent.gateway.isDegraded).toBe(true);
    failures = 0;
    await agent.gateway.setUnhealthy(unhealthy, signal);
    expect(agent.gateway.isDegraded).toBe(false);
    expect(agent.gateway.unhealthy).toEqual(unhealthy);
    expect(world.describe()).not.toBe(before);
    await agent.close();
  });
});
