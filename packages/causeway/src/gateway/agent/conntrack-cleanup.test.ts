import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Removed } from '@causeway/nftables/compile/layout-change';
import { ConntrackCleanup } from './conntrack-cleanup.ts';

const { signal } = new AbortController();
const backend = (last: number, keepsAnswered: boolean): Removed => ({
  address: parseAddress(`10.1.0.${last}`),
  keepsAnswered,
  backend: {
    ...({ protocol: 'TCP', port: parsePort(8080) } as const),
    ...{ virtualAddress: parseAddress('192.0.2.1'), virtualPort: parsePort(80) },
  },
});

test('one read of conntrack covers all changes until it starts', async () => {
  const clock = new SimulatedClock();
  const deletions: (readonly Removed[])[] = [];
  const first = Promise.withResolvers<void>();
  const cleanup = new ConntrackCleanup({
    ...{ clock, log: discardLog },
    deleteConnections: (removed) => {
      deletions.push(removed);
      return deletions.length === 1 ? first.promise : Promise.resolve();
    },
    deleteStaleEntries: () => Promise.resolve(),
  });
  cleanup.afterRemoval([backend(1, false)], signal);
  await clock.advance(0);
  for (const last of [2, 3, 4]) cleanup.afterRemoval([backend(last, false)], signal);
  for (const last of [5, 6]) cleanup.afterRemoval([backend(last, true)], signal);
  expect(deletions).toEqual([[backend(1, false)]]);
  first.resolve();
  await cleanup.idle();
  expect(deletions[1]).toEqual([2, 3, 4].map((last) => backend(last, false)));
  await clock.advance(1_000);
  await cleanup.idle();
  expect(deletions.slice(2)).toEqual([[5, 6].map((last) => backend(last, true))]);
});
