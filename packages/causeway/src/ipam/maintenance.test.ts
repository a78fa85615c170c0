import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import { parseAddress } from '@causeway/base/address/address';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { Allocator } from './allocator.ts';
import { put } from './decision.ts';
import { LedgerMaintenance } from './maintenance.ts';
import { keys } from './keys.ts';
import type { Write } from './ledger.ts';
import { clusterRecordSchema, siteRecordSchema } from './records.ts';

const longAgo = 1_000_000;
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 120_000, interval: 20 });

let stop: AbortController;
let ended: Promise<unknown>;
let offset: number;
/** How long the process was suspended: all its clocks continued. */
let stoodStill: number;
let allocator: Allocator;

const write = (writes: readonly Write[]) =>
  allocator.ledger.commit({ conditions: [], writes }, stop.signal);
const epochOf = (site: string) => allocator.view.site(site)?.clusters.get('c')?.record.epoch;

/** A site with a cluster that promised to withdraw, holds an address and sent its last heartbeat long ago. */
function expiredCluster(site: string, address: string, suspended?: { as: 'moved'; since: number }) {
  const selfWithdrawal = { afterMs: 600_000, graceMs: 5_000 };
  const cluster = { site, name: 'c', id: `id-${site}`, epoch: `first-${site}`, sequence: 1 };
  const owner = { uid: 'u', purpose: 'load-balancer', fencingToken: 1, since: longAgo };
  const held = { state: 'held', address, pool: 'p', cluster: 'c', epoch: cluster.epoch };
  return [
    put(keys.site(site), siteRecordSchema.parse({ name: site, pools: [], suspended })),
    put(
      keys.cluster(site, 'c'),
      clusterRecordSchema.parse({ ...cluster, selfWithdrawal, createdAt: longAgo }),
    ),
    put(keys.address(site, parseAddress(address)), { ...held, owners: [owner] }),
    put(keys.beat(site, 'c'), { id: cluster.id, at: longAgo, withdrawsAfterMs: 600_000 }),
  ];
}

/** Waits for a sweep: it writes an expired quarantine, which the next sweep removes. */
async function sweepPasses(site: string): Promise<void> {
  const address = parseAddress('192.0.2.99');
  const rest = { state: 'resting', address, pool: 'p', cluster: 'c', id: 'gone', until: longAgo };
  // Resolves when the view has the record.
  await allocator.write([put(keys.address(site, address), rest)], stop.signal);
  await eventually(() => {
    expect(allocator.view.site(site)).toBeDefined();
    expect(allocator.view.site(site)?.addresses.has(address)).toBe(false);
  });
}

beforeEach(async () => {
  stop = new AbortController();
  offset = 0;
  stoodStill = 0;
  const clock = {
    ...systemClock,
    wallTime: () => Date.now() + offset + stoodStill,
    monotonic: () => systemClock.monotonic() + stoodStill,
  };
  const log = discardLog;
  allocator = new Allocator({ ledger: new MemoryLedger(), clock, log });
  await write([
    ...expiredCluster('moved', '192.0.2.1', { as: 'moved', since: longAgo }),
    ...expiredCluster('open', '192.0.2.2'),
  ]);
  const options = { allocator, clock, log, auditRetentionMs: 10 ** 12, sweepEveryMs: 5 };
  ended = Promise.allSettled([
    allocator.follower.run(stop.signal),
    new LedgerMaintenance(options).run(stop.signal),
  ]);
});
afterEach(async () => {
  stop.abort();
  await ended;
});

test('counts missing heartbeats from the start of serving, also if another site was moved', async () => {
  await eventually(() => expect(epochOf('open')).toBe('first-open'));
  await sweepPasses('open');
  await sweepPasses('open');
  expect(epochOf('open')).toBe('first-open');
  offset += 700_000;
  await eventually(() => expect(epochOf('open')).not.toBe('first-open'));
  expect(epochOf('moved')).toBe('first-moved');
});

test('counts missing heartbeats anew after the process was suspended', async () => {
  await eventually(() => expect(epochOf('open')).toBe('first-open'));
  await sweepPasses('open');
  stoodStill = 700_000;
  await sweepPasses('open');
  await sweepPasses('open');
  expect(epochOf('open')).toBe('first-open');
  offset += 700_000;
  await eventually(() => expect(epochOf('open')).not.toBe('first-open'));
});
