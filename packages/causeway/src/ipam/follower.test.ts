import { describe, expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { Follower } from './follower.ts';
import type { Batch, Ledger, Snapshot } from './ledger.ts';
import { RecentBatches } from './recent-batches.ts';

/** A ledger with answers that the test sets. */
class ScriptedLedger implements Ledger {
  snapshot: Snapshot = { revision: 1, entries: [] };
  loads = 0;
  newest = 1;
  recent = new RecentBatches();
  loadError: CausewayError | undefined;

  load(): Promise<Snapshot> {
    this.loads += 1;
    const error = this.loadError;
    this.loadError = undefined;
    return error === undefined ? Promise.resolve(this.snapshot) : Promise.reject(error);
  }
  barrier = () => Promise.resolve(this.newest);
  watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<Batch> {
    return this.recent.follow(prefix, after, signal);
  }
  identity = () => Promise.resolve('scripted');
  scan = () => Promise.resolve([]);
  commit = () => Promise.reject(new CausewayError('unavailable', 'not here'));
  requestProgress(): void {}
  acceptStore(): void {}
  close = () => Promise.resolve();
}

const site = (revision: number) => ({
  key: 'state/site/s',
  value: JSON.stringify({
    name: 's',
    pools: [],
    quarantineMs: revision,
    unconfirmedQuarantineMs: 0,
    keepMs: 0,
    lostAfterMs: 0,
  }),
  revision,
});

function follow(ledger: Ledger) {
  const stopping = new AbortController();
  const follower = new Follower(ledger, systemClock, discardLog);
  const done = follower.run(stopping.signal);
  return { follower, done, stop: () => stopping.abort(), signal: stopping.signal };
}

describe('a follower', () => {
  test('loads, follows, and reports when the view is new enough', async () => {
    const ledger = new ScriptedLedger();
    ledger.recent.startAt(1);
    const { follower, done, stop, signal } = follow(ledger);
    await follower.reached(1, signal);
    const reached = follower.reached(2, signal);
    ledger.recent.add({ revision: 2, changes: [site(2)] });
    await reached;
    expect(follower.view.site('s')?.site?.record.quarantineMs).toBe(2);
    expect(follower.connected).toBe(true);
    stop();
    await done;
  });

  test('reloads after its revision was compacted', async () => {
    const ledger = new ScriptedLedger();
    ledger.recent.startAt(1);
    const { follower, done, stop, signal } = follow(ledger);
    await follower.reached(1, signal);
    ledger.snapshot = { revision: 9, entries: [site(9)] };
    const old = ledger.recent;
    ledger.recent = new RecentBatches();
    ledger.recent.startAt(9);
    old.end(new CausewayError('gone', 'compacted'));
    await follower.reached(9, signal);
    expect(follower.view.site('s')?.site?.record.quarantineMs).toBe(9);
    stop();
    await done;
  });

  test('continues when the ledger is reachable again', async () => {
    const ledger = new ScriptedLedger();
    ledger.recent.startAt(1);
    ledger.loadError = new CausewayError('unavailable', 'not yet');
    const { follower, done, stop, signal } = follow(ledger);
    await follower.reached(1, signal);
    expect(ledger.loads).toBe(2);
    stop();
    await done;
  });

  test('is connected again after an outage although nothing changes in the ledger', async () => {
    const ledger = new ScriptedLedger();
    ledger.recent.startAt(1);
    const { follower, done, stop, signal } = follow(ledger);
    await follower.reached(1, signal);
    const before = ledger.recent;
    // As etcd does: a watch without changes sends nothing until the client asks for its revision.
    const asked = Promise.withResolvers<undefined>();
    ledger.requestProgress = () => asked.resolve(undefined);
    ledger.watch = async function* (_, after, ended) {
      await asked.promise;
      yield { revision: after, changes: [] };
      await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }));
    };
    before.end(new CausewayError('unavailable', 'the connection was closed'));
    await expect.poll(() => follower.connected, { timeout: 5_000 }).toBe(false);
    await expect.poll(() => follower.connected, { timeout: 5_000 }).toBe(true);
    expect(ledger.loads).toBe(1);
    stop();
    await done;
  });

  test('fails on an earlier revision than before, and starts over with it on request', async () => {
    const ledger = new ScriptedLedger();
    ledger.recent.startAt(7);
    ledger.snapshot = { revision: 7, entries: [] };
    const { follower, done, stop, signal } = follow(ledger);
    await follower.reached(7, signal);
    ledger.newest = 6;
    await expect(follower.barrier(signal)).rejects.toThrow('put back to an earlier state');
    ledger.snapshot = { revision: 5, entries: [] };
    ledger.recent.end(new CausewayError('gone', 'compacted'));
    await expect(done).rejects.toThrow('put back to an earlier state');
    await expect(follower.untilPutBack(signal)).rejects.toThrow('put back to an earlier state');
    expect(follower.isUsable).toBe(false);
    follower.startOver();
    expect(follower.isUsable).toBe(false);
    ledger.recent = new RecentBatches();
    ledger.recent.startAt(5);
    ledger.newest = 5;
    const again = follower.run(signal);
    await follower.barrier(signal);
    expect(follower.isUsable).toBe(true);
    expect(follower.view.revision).toBe(5);
    stop();
    await again;
  });

  test('does not answer a question with a barrier that began before it', async () => {
    const ledger = new ScriptedLedger();
    ledger.recent.startAt(1);
    const gates: PromiseWithResolvers<number>[] = [];
    ledger.barrier = () => {
      const gate = Promise.withResolvers<number>();
      gates.push(gate);
      return gate.promise;
    };
    const { follower, done, stop, signal } = follow(ledger);
    await follower.reached(1, signal);
    const first = follower.barrier(signal);
    await Promise.resolve().then(() => undefined);
    const later = [follower.barrier(signal), follower.barrier(signal)];
    gates[0]?.resolve(1);
    await first;
    expect(gates).toHaveLength(2);
    gates[1]?.resolve(1);
    await Promise.all(later);
    expect(gates).toHaveLength(2);
    stop();
    await done;
  });
});
