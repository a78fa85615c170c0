import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { parsePrefix } from '@causeway/base/address/prefix';
import { MemoryDriver, memoryRouting } from '@causeway/nftables/drivers/memory-driver';
import { serviceKey, type VirtualService } from '@causeway/nftables/compile/virtual-service';
import { EngineRuleset } from './engine-ruleset.ts';

const { signal } = new AbortController();
const settings = {
  table: 'causeway',
  hashSeed: 7,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};

function service(last: number, destinations: number, hasRanges: boolean): VirtualService {
  return {
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    dispatch: {
      kind: 'slots',
      backends: Array.from({ length: destinations }, (_, index) => ({
        address: parseAddress(`10.0.${last}.${index + 1}`),
        port: parsePort(8080),
      })),
    },
    ...(hasRanges ? { sourceRanges: [parsePrefix('10.0.0.0/8')] } : {}),
  };
}

async function started(...set: VirtualService[]) {
  const driver = new MemoryDriver('causeway');
  const ruleset = new EngineRuleset(driver, settings, memoryRouting(settings.table));
  await ruleset.replaceAll({ set, nodes: [], drainingNodes: [], policies: [], pods: [] }, signal);
  return { driver, ruleset };
}

async function present(driver: MemoryDriver): Promise<number> {
  let sum = 0;
  for (const set of (await driver.read())?.sets.values() ?? []) sum += set.elements.size;
  return sum;
}

describe('the ruleset of the engine', () => {
  test('writes nothing for an unchanged layout', async () => {
    const { driver, ruleset } = await started(service(1, 2, false));
    const again = {
      set: [service(1, 2, false)],
      nodes: [],
      drainingNodes: [],
      policies: [],
      pods: [],
    };
    await expect(ruleset.commit({ set: again.set }, signal)).resolves.toMatchObject({
      wrote: false,
    });
    const successor = new EngineRuleset(driver, settings, memoryRouting(settings.table));
    await expect(successor.replaceAll(again, signal)).resolves.toMatchObject({ wrote: false });
  });

  test('replaces any contents with the desired layout', async () => {
    const { driver } = await started(service(1, 2, true), service(2, 3, false));
    const successor = new EngineRuleset(driver, settings, memoryRouting(settings.table));
    await successor.replaceAll(
      { set: [service(2, 1, false)], nodes: [], drainingNodes: [], policies: [], pods: [] },
      signal,
    );
    const clean = await started(service(2, 1, false));
    expect((await driver.read())?.sets).toEqual((await clean.driver.read())?.sets);
  });

  test('lists frontends that share a destination', async () => {
    const shared = { ...service(2, 1, false), address: parseAddress('192.0.2.9') };
    const { ruleset } = await started(service(1, 1, false), service(2, 1, false), shared);
    expect(
      ruleset
        .sharedFrontends()
        .map(({ address }) => address)
        .sort(),
    ).toEqual(['192.0.2.2', '192.0.2.9']);
  });

  test('watches the tables for routed packets while they exist', async () => {
    const driver = new MemoryDriver('causeway');
    const machine = memoryRouting(settings.table);
    const ruleset = new EngineRuleset(driver, settings, machine);
    const routed: VirtualService = {
      ...service(1, 0, false),
      dispatch: { kind: 'nodes-unchanged' },
    };
    const nodes = [parseAddress('10.0.0.1')];
    await ruleset.replaceAll({ set: [], nodes, drainingNodes: [], policies: [], pods: [] }, signal);
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { table } of ruleset.foreignChanges(stop.signal)) seen.push(table);
    })();
    const meddle = async (table: MemoryDriver | undefined) => {
      seen.length = 0;
      table?.interfere([{ op: 'add-table' }]);
      await vi.waitFor(() => expect(seen).toEqual([table?.table]));
    };
    await meddle(driver);
    await ruleset.commit({ set: [routed] }, signal);
    await meddle(machine.tables.get(4));
    const six = { ...routed, address: parseAddress('2001:db8::1') };
    await ruleset.commit({ set: [six] }, signal);
    await meddle(machine.tables.get(6));
    // A table that is no longer ours is not watched.
    await ruleset.commit({ remove: [serviceKey(six)] }, signal);
    machine.tables.get(6)?.interfere([{ op: 'add-table' }]);
    await meddle(machine.tables.get(4));
    stop.abort();
    await following;
  });

  test('counts its elements correctly through any changes', async () => {
    const change = fc.record({
      last: fc.integer({ min: 1, max: 5 }),
      destinations: fc.integer({ min: 0, max: 6 }),
      hasRanges: fc.boolean(),
      isRemoval: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const { driver, ruleset } = await started();
        for (const { last, destinations, hasRanges, isRemoval } of changes) {
          const each = service(last, destinations, hasRanges);
          await ruleset.commit(
            isRemoval ? { remove: [serviceKey(each)] } : { set: [each] },
            signal,
          );
          expect(ruleset.elements).toBe(await present(driver));
        }
      }),
      { numRuns: 50 },
    );
  });
});
