import { expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import { startReplica } from './replica.ts';

const { signal } = new AbortController();
const siteKey = 'state/site/edge';
const site = { name: 'edge', pools: [], quarantineMs: 0, unconfirmedQuarantineMs: 5_000 };

/** A ledger whose store can be replaced by an older one, as after a restored disk. */
class ReplaceableLedger extends MemoryLedger {
  #older: number | undefined;
  override async barrier(limit: AbortSignal): Promise<number> {
    return this.#older ?? (await super.barrier(limit));
  }
  async putBack(): Promise<void> {
    this.#older = (await super.barrier(signal)) - 1;
  }
}

test('a server whose ledger went back marks the sites as recovering before it ends', async () => {
  const ledger = new ReplaceableLedger();
  const value = JSON.stringify({ ...site, keepMs: 0, lostAfterMs: 0 });
  await ledger.commit({ conditions: [], writes: [{ key: siteKey, value }] }, signal);
  const replica = await startReplica({
    ...{ ledger, clock: systemClock, log: discardLog, metrics: noMetrics, signal },
    ...{ host: '127.0.0.1', port: 0, rateLimit: { perSecond: 1_000, burst: 1_000 } },
    ...{ auditRetentionMs: 1_000_000, sweepEveryMs: 10 },
  });
  await ledger.putBack();
  await expect(replica.done).rejects.toThrow('put back to an earlier state');
  const [entry] = (await ledger.load(siteKey, signal)).entries;
  expect(JSON.parse(entry?.value ?? '{}')).toMatchObject({ suspended: { as: 'recovering' } });
  await replica.stop().catch(() => undefined);
});
