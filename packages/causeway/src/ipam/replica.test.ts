import { expect, test, vi } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import type { Ledger, Scan, Transaction } from './ledger.ts';
import { startReplica } from './replica.ts';

const { signal } = new AbortController();
const siteKey = 'state/site/edge';
const site = { name: 'edge', pools: [], quarantineMs: 0, unconfirmedQuarantineMs: 5_000 };

/** A ledger whose store can be replaced by an older one, as after a restored disk. */
class ReplaceableLedger implements Ledger {
  #store = new MemoryLedger();
  load = (prefix: string, each: AbortSignal) => this.#store.load(prefix, each);
  scan = (scan: Scan, each: AbortSignal) => this.#store.scan(scan, each);
  commit = (transaction: Transaction, each: AbortSignal) => this.#store.commit(transaction, each);
  barrier = (each: AbortSignal) => this.#store.barrier(each);
  watch = (prefix: string, after: number, each: AbortSignal) =>
    this.#store.watch(prefix, after, each);
  identity = (each: AbortSignal) => this.#store.identity(each);
  requestProgress(): void {}
  acceptStore(): void {}
  close = () => Promise.resolve();
  replace(store: MemoryLedger): void {
    this.#store = store;
  }
}

const siteOf = async (ledger: Ledger): Promise<unknown> =>
  JSON.parse((await ledger.load(siteKey, signal)).entries[0]?.value ?? '{}');

const write = (ledger: Ledger) => {
  const value = JSON.stringify({ ...site, keepMs: 0, lostAfterMs: 0 });
  return ledger.commit({ conditions: [], writes: [{ key: siteKey, value }] }, signal);
};

const serve = (ledger: Ledger) =>
  startReplica({
    ledger,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    signal,
    host: '127.0.0.1',
    port: 0,
    rateLimit: { perSecond: 1_000, burst: 1_000 },
    auditRetentionMs: 1_000_000,
    sweepEveryMs: 10,
  });

test('a server whose ledger went back marks the sites as recovering and continues', async () => {
  const ledger = new ReplaceableLedger();
  for (let count = 0; count < 5; count += 1) await write(ledger);
  const replica = await serve(ledger);
  let hasEnded = false;
  replica.done.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  );
  const backup = new MemoryLedger();
  await write(backup);
  ledger.replace(backup);
  await vi.waitFor(
    () => {
      expect(replica.allocator.view.site('edge')?.site?.record.suspended?.as).toBe('recovering');
      expect(replica.problem()).toBeUndefined();
    },
    { timeout: 30_000 },
  );
  expect(await siteOf(ledger)).toMatchObject({ suspended: { as: 'recovering' } });
  expect(hasEnded).toBe(false);
  await replica.stop();
});

test('a server whose ledger is empty waits until a backup is restored', async () => {
  const ledger = new ReplaceableLedger();
  for (let count = 0; count < 5; count += 1) await write(ledger);
  const replica = await serve(ledger);
  const empty = new MemoryLedger();
  ledger.replace(empty);
  await vi.waitFor(() => expect(replica.problem()).toContain('restore a backup'), {
    timeout: 30_000,
  });
  await expect(
    replica.allocator.read({ caller: 'system', needs: { kind: 'operator' } }, () => 1, signal),
  ).rejects.toMatchObject({ code: 'unavailable' });
  expect((await empty.load('state/', signal)).entries).toEqual([]);
  await write(empty);
  await vi.waitFor(() => expect(replica.problem()).toBeUndefined(), { timeout: 30_000 });
  expect(replica.allocator.view.site('edge')?.site?.record.suspended?.as).toBe('recovering');
  await replica.stop();
});
