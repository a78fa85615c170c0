import { Allocator } from '../packages/causeway/src/ipam/allocator.ts';
import type { IpamClient } from '../packages/causeway/src/ipam/api/client.ts';
import { createCluster } from '../packages/causeway/src/ipam/cluster-decisions.ts';
import type { Decide } from '../packages/causeway/src/ipam/decision.ts';
import { keys } from '../packages/causeway/src/ipam/keys.ts';
import type { Ledger, Transaction } from '../packages/causeway/src/ipam/ledger.ts';
import { demandSchema, poolSpecSchema } from '../packages/causeway/src/ipam/records.ts';
import { reserve } from '../packages/causeway/src/ipam/reserve.ts';
import { setPool, setSite } from '../packages/causeway/src/ipam/site-decisions.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';

/** Common parts of the allocator's benchmarks: callers, the work of a caller, and a bare transaction. */

export const never = new AbortController().signal;
export const callers = 64;
const site = 'bench';

export interface RunningAllocator {
  readonly allocator: Allocator;
  stop(): Promise<void>;
}

export async function runAllocator(ledger: Ledger): Promise<RunningAllocator> {
  const allocator = new Allocator({ ledger, clock: systemClock, log: discardLog });
  const stopping = new AbortController();
  const following = allocator.follower.run(stopping.signal);
  await allocator.follower.reached(1, never);
  return {
    allocator,
    async stop() {
      stopping.abort();
      await following;
    },
  };
}

export function change<T>(allocator: Allocator, queueKey: string, decide: Decide<T>): Promise<T> {
  const needs = { kind: 'operator' } as const;
  return allocator.change({ caller: 'system', needs, queueKey, decide }, never);
}

/** A site with a million addresses and as many clusters as there are callers. */
export async function prepareSite(allocator: Allocator, clusters = callers): Promise<void> {
  const settings = { quarantineMs: 0, keepMs: 0 };
  await change(allocator, site, setSite({ site, settings }));
  const pool = poolSpecSchema.parse({ name: 'p', addresses: ['10.0.0.0-10.15.255.255'] });
  await change(allocator, site, setPool({ site, pool }));
  const create = (index: number) => {
    const cluster = `c${index}`;
    const credential = { id: `first-${index}`, hash: 'aa' };
    const request = { site, cluster, id: `id-${index}`, epoch: `epoch-${index}`, credential };
    return change(allocator, cluster, createCluster({ ...request, controlPlane: undefined }));
  };
  for (let first = 0; first < clusters; first += 100) {
    const size = Math.min(100, clusters - first);
    await Promise.all(Array.from({ length: size }, (_, index) => create(first + index)));
  }
}

let owners = 0;
const newUid = () => `00000000-0000-4000-8000-${String((owners += 1)).padStart(12, '0')}`;

/** One reservation in-process. */
export async function reserveInProcess(allocator: Allocator, caller: number): Promise<void> {
  const cluster = `c${caller}`;
  const uid = newUid();
  const demand = demandSchema.parse({ uid, purpose: 'load-balancer', families: [4] });
  await change(allocator, keys.cluster(site, cluster), reserve({ site, cluster, demand }));
}

/** One reservation over HTTP. */
export async function reserveOverHttp(client: IpamClient, caller: number): Promise<void> {
  const params = { site, cluster: `c${caller}` };
  await client.call('reserve', { params, body: { uid: newUid() } }, never);
}

/** Calls per second of all callers together, each sequential, over this duration. */
export async function rateOf(
  milliseconds: number,
  call: (caller: number) => Promise<unknown>,
  concurrency = callers,
): Promise<number> {
  const started = performance.now();
  const end = started + milliseconds;
  let done = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async (_, caller) => {
      while (performance.now() < end) {
        await call(caller);
        done += 1;
      }
    }),
  );
  return (done / (performance.now() - started)) * 1_000;
}

/** Keeps the last transaction that passed through, to make bare ones of its size. */
export function spiedOn(ledger: Ledger): { ledger: Ledger; last(): Transaction | undefined } {
  let last: Transaction | undefined;
  const spy: Ledger = {
    load: (prefix, signal) => ledger.load(prefix, signal),
    scan: (scan, signal) => ledger.scan(scan, signal),
    barrier: (signal) => ledger.barrier(signal),
    identity: (signal) => ledger.identity(signal),
    watch: (prefix, after, signal) => ledger.watch(prefix, after, signal),
    requestProgress: () => ledger.requestProgress(),
    acceptStore: () => ledger.acceptStore(),
    close: () => ledger.close(),
    commit(transaction, signal) {
      last = transaction;
      return ledger.commit(transaction, signal);
    },
  };
  return { ledger: spy, last: () => last };
}

/** A transaction of the same size and number of operations without dependencies. */
export function bareTransaction(like: Transaction, index: number): Transaction {
  const unique = (key: string) =>
    `bare/${String(index).padStart(Math.max(1, key.length - 5), '0')}`;
  return {
    conditions: like.conditions.map(({ key }, at) => ({ key: `${unique(key)}${at}`, revision: 0 })),
    writes: like.writes.map(({ key, value }, at) => ({ key: `${unique(key)}${at}`, value })),
  };
}
