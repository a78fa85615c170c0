// Cost of a change of the ruleset: compared with a smaller ruleset, and with the program nft.

import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { diff } from '../packages/nftables/src/plan/diff.ts';
import { buildRuleset, Layout } from '../packages/nftables/src/compile/layout.ts';
import { NetlinkDriver } from '../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { operationsText } from '../packages/nftables/src/drivers/nft-text.ts';
import { buildSlotTable } from '../packages/nftables/src/compile/slot-table.ts';
import type { Backend } from '../packages/nftables/src/compile/virtual-service.ts';
import { TestNetwork } from '../test/services/namespaces.ts';
import { compare, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import {
  endpoint,
  load,
  replaceEndpoints,
  services,
  settings,
  spawnedElement,
} from './ruleset-load.ts';

async function fromNothing(network: TestNetwork): Promise<Measurement> {
  const everything = services(10_000);
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-bench-'));
  const file = path.join(directory, 'ruleset.nft');
  const { operations } = diff(undefined, buildRuleset({ settings, services: everything }));
  await fs.writeFile(file, [...operationsText(settings.table, operations)].join('\n'));
  let turn = 0;
  const freshHost = () => network.host(`load${(turn += 1)}`);
  const measurement = await compare(
    3,
    async () => {
      const host = await freshHost();
      const driver = await NetlinkDriver.open({
        table: settings.table,
        networkNamespace: host.path,
      });
      const started = performance.now();
      const { plan } = Layout.plan({ settings, services: everything });
      await driver.apply(plan.transaction);
      plan.accept();
      const took = performance.now() - started;
      await driver.close();
      return took;
    },
    async () => {
      const host = await freshHost();
      const started = performance.now();
      await host.run('nft', '-f', file);
      return performance.now() - started;
    },
  );
  await fs.rm(directory, { recursive: true });
  return measurement;
}

/** The worst over all removals: share of clients that move beyond the allowed share. */
function slotMovement(counts: readonly number[], acrossSizes: boolean): Measurement {
  let worst = 0;
  for (const count of counts) {
    const endpoints = Array.from({ length: count }, (_, index) => endpoint(index * 17 + 3));
    const before = buildSlotTable(endpoints, settings.hashSeed);
    for (let removed = 0; removed < count; removed += Math.ceil(count / 20)) {
      const after = buildSlotTable(
        endpoints.filter((_, index) => index !== removed),
        settings.hashSeed,
      );
      if ((before.length !== after.length) !== acrossSizes) continue;
      const share = acrossSizes ? 2 / count : 1 / count;
      worst = Math.max(worst, movedShare(before, after) - share);
    }
  }
  return { value: worst * 100, baseline: null };
}

function movedShare(before: readonly Backend[], after: readonly Backend[]): number {
  const slots = Math.max(before.length, after.length);
  let moved = 0;
  for (let slot = 0; slot < slots; slot += 1) {
    const old = before[Math.floor((slot * before.length) / slots)];
    const now = after[Math.floor((slot * after.length) / slots)];
    if (old?.address !== now?.address) moved += 1;
  }
  return moved / slots;
}

function busiest(counts: readonly number[]): Measurement {
  let worst = 0;
  for (const count of counts) {
    const endpoints = Array.from({ length: count }, (_, index) => endpoint(index * 31 + 5));
    const table = buildSlotTable(endpoints, settings.hashSeed);
    const held = new Map<Backend, number>();
    for (const owner of table) held.set(owner, (held.get(owner) ?? 0) + 1);
    worst = Math.max(worst, (Math.max(...held.values()) * count) / table.length);
  }
  return { value: worst, baseline: null };
}

const steadyCounts = [4, 6, 7, 8, 10, 16, 24, 32, 50, 64, 100, 200, 500];
const crossingCounts = [2, 3, 4, 5, 9, 17, 33, 65, 129, 257, 513];
const atMost = (of: 'ratio' | 'value', limit: number, unit: string) =>
  ({ of, comparison: 'at most', limit, unit }) as const;

const bars = {
  'endpoint replaced, 10,000 services beside 100': atMost('ratio', 1.5, 'ms'),
  'endpoint replaced, beside one spawned nft add element': atMost('ratio', 0.1, 'ms'),
  'operations of a change that changes nothing': atMost('value', 0, 'operations'),
  '10,000 services from nothing, beside nft -f': atMost('ratio', 1, 'ms'),
  'slots moved beyond 1/N at one size': atMost('value', 15, '%'),
  'slots moved beyond 2/N across sizes': atMost('value', 15, '%'),
  'busiest endpoint beside the mean': atMost('value', 1.15, 'x'),
};

export const suite: BenchmarkSuite<keyof typeof bars> = {
  name: 'nftables',
  bars,
  async run() {
    const network = await TestNetwork.create();
    try {
      const few = await load(await network.host('few'), 100);
      const largeHost = await network.host('many');
      const many = await load(largeHost, 10_000);
      await largeHost.run('nft', 'add', 'table', 'inet', 'beside');
      await largeHost.run('nft', 'add', 'set', 'inet', 'beside', 's', '{ type ipv4_addr ; }');
      await replaceEndpoints(few);
      await replaceEndpoints(many);
      const bySize = await compare(
        7,
        () => replaceEndpoints(many),
        () => replaceEndpoints(few),
      );
      let element = 0;
      const bySpawn = await compare(
        7,
        () => replaceEndpoints(many),
        () => spawnedElement(largeHost, 's', (element += 1)),
      );
      const same = [...many.layout.services.values()].slice(0, 1000);
      const { operations } = many.layout.plan({ set: same }).transaction;
      await few.driver.close();
      await many.driver.close();
      return {
        'endpoint replaced, 10,000 services beside 100': bySize,
        'endpoint replaced, beside one spawned nft add element': bySpawn,
        'operations of a change that changes nothing': {
          value: operations.length,
          baseline: null,
        },
        '10,000 services from nothing, beside nft -f': await fromNothing(network),
        'slots moved beyond 1/N at one size': slotMovement(steadyCounts, false),
        'slots moved beyond 2/N across sizes': slotMovement(crossingCounts, true),
        'busiest endpoint beside the mean': busiest([...steadyCounts, ...crossingCounts, 1000]),
      };
    } finally {
      await network.remove();
    }
  },
};
