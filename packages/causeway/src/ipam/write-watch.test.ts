import { expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { systemClock } from '@causeway/base/time/clock';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import type { Committed, Transaction } from './ledger.ts';
import { WriteWatch } from './write-watch.ts';

const { signal } = new AbortController();

class FailingLedger extends MemoryLedger {
  failure: CausewayError | undefined;
  override commit(transaction: Transaction, each: AbortSignal): Promise<Committed> {
    return this.failure === undefined
      ? super.commit(transaction, each)
      : Promise.reject(this.failure);
  }
}

test('a ledger without space is reported until a write succeeds', async () => {
  const ledger = new FailingLedger();
  const watch = new WriteWatch({ ledger, clock: systemClock, log: discardLog, metrics: noMetrics });
  await watch.check(signal);
  expect(watch.problem).toBeUndefined();
  expect(await ledger.barrier(signal)).toBe(0);
  ledger.failure = new CausewayError('exhausted', 'no space', { hint: 'Defragment it.' });
  await watch.check(signal);
  expect(watch.problem).toBe('no space. Defragment it.');
  ledger.failure = new CausewayError('unavailable', 'no quorum');
  await watch.check(signal);
  expect(watch.problem).toContain('no space');
  ledger.failure = undefined;
  await watch.check(signal);
  expect(watch.problem).toBeUndefined();
});
