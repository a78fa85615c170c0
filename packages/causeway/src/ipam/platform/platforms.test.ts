import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import type { Allocator } from '../allocator.ts';
import { put } from '../decision.ts';
import { TestAllocator } from '../test-allocator.testing.ts';
import { keys } from '../keys.ts';
import type { View } from '../view.ts';
import { Platforms } from './platforms.ts';
import type { PlatformDriver } from './platform-driver.ts';

async function sweepOnce(
  testAllocator: TestAllocator,
  present: readonly [string, string][],
): Promise<string[]> {
  const deleted: string[] = [];
  const driver: PlatformDriver = {
    ensure: () => Promise.resolve(undefined),
    delete: ({ address }) => Promise.resolve(void deleted.push(address)),
    list: () =>
      Promise.resolve(present.map(([site, text]) => ({ site, address: parseAddress(text) }))),
  };
  const allocator = {
    view: testAllocator.view,
    read: (_who: unknown, question: (view: View) => unknown) =>
      Promise.resolve(question(testAllocator.view)),
  } as unknown as Allocator;
  const stop = new AbortController();
  const platforms = new Platforms({
    allocator,
    drivers: new Map([['cloud', driver]]),
    log: discardLog,
    clock: new SimulatedClock(),
    sweepEveryMs: 1_000,
  });
  const ended = platforms.run(stop.signal).catch(() => undefined);
  await settled();
  stop.abort();
  await ended;
  return deleted;
}

test('sweeps addresses without an owner, also of removed pools, and leaves other sites unchanged', async () => {
  const testAllocator = new TestAllocator().withSite([
    { name: 'p', addresses: ['10.0.0.1-10.0.0.2'] },
  ]);
  const held = testAllocator.withCluster('a').take('a', 'u');
  const free = held === '10.0.0.1' ? '10.0.0.2' : '10.0.0.1';
  const present: [string, string][] = [
    ['s', held],
    ['s', free],
    ['s', '10.0.7.7'],
    ['unknown', '10.0.0.9'],
  ];
  expect(await sweepOnce(testAllocator, present)).toEqual([free, '10.0.7.7']);

  for (const as of ['recovering', 'moved'] as const) {
    const record = { ...testAllocator.view.site('s')?.site?.record, suspended: { as, since: 0 } };
    testAllocator.run(() => ({
      kind: 'change',
      reads: [],
      writes: [put(keys.site('s'), record)],
      audit: undefined,
      answer: undefined,
    }));
    expect(await sweepOnce(testAllocator, present)).toEqual([]);
  }
});
