import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import { EtcdClient, type EtcdOptions } from './etcd/etcd-client.ts';
import type { GrpcStream } from './etcd/grpc-connection.ts';
import {
  decodeRangeResponse,
  decodeTransactionResponse,
  decodeWatchResponse,
  encodeProgressRequest,
  encodeRange,
  encodeTransaction,
  encodeWatch,
  type KeyRange,
  type RangeResponse,
  type WatchResponse,
} from './etcd/messages.ts';
import { batchHead } from './transaction-batch.ts';
import { Inbox } from './etcd/inbox.ts';
import {
  endOfPrefix,
  PutBack,
  refuseMalformed,
  type Batch,
  type Committed,
  type Entry,
  type Ledger,
  type Scan,
  type Snapshot,
  type Transaction,
} from './ledger.ts';

/** Small enough that neither side blocks for long, large enough that 100,000 keys take 50 calls. */
const pageSize = 2_000;

/** Number of concurrent transactions. Further ones wait and are batched. */
const mostUnderWay = 4;
const unhurried = new AbortController().signal;

interface Queued {
  readonly transaction: Transaction;
  readonly resolve: (result: Committed) => void;
  readonly reject: (error: CausewayError) => void;
}

/** The ledger in etcd, shared by any number of servers. */
export class EtcdLedger implements Ledger {
  readonly #client: EtcdClient;
  readonly #root: string;
  readonly #watches = new Set<GrpcStream>();
  readonly #queue: Queued[] = [];
  #underWay = 0;
  #clusterId: number | undefined;

  /** The root prefixes every key, so that other programs can use the same etcd. */
  constructor(options: EtcdOptions & { readonly root: string }) {
    this.#client = new EtcdClient(options);
    this.#root = options.root;
  }

  async load(prefix: string, signal: AbortSignal): Promise<Snapshot> {
    const end = this.#root + endOfPrefix(prefix);
    const entries: Entry[] = [];
    let revision: number | undefined;
    for (let from = this.#root + prefix; ; ) {
      // Later pages are read at the revision of the first page, so together they are one snapshot.
      const pinned = revision === undefined ? {} : { revision };
      const page = await this.#range({ key: from, end, limit: pageSize, ...pinned }, signal);
      revision ??= page.revision;
      for (const entry of page.entries) entries.push(this.#withoutRoot(entry));
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) return { revision, entries };
      from = `${last.key}\0`;
    }
  }

  async scan({ from, to, limit, newestFirst }: Scan, signal: AbortSignal): Promise<Entry[]> {
    const range = { key: this.#root + from, end: this.#root + to };
    const page = await this.#range({ ...range, limit, descending: newestFirst }, signal);
    return page.entries.map((entry) => this.#withoutRoot(entry));
  }

  commit(transaction: Transaction, signal: AbortSignal): Promise<Committed> {
    return new Promise((resolve, reject) => {
      refuseMalformed(transaction);
      if (signal.aborted) throw abortedBy(signal);
      this.#queue.push({ transaction, resolve, reject });
      this.#sendQueued();
    });
  }

  /** Any linearizable read works: its response has the revision. */
  async barrier(signal: AbortSignal): Promise<number> {
    return (await this.#range({ key: `${this.#root}barrier` }, signal)).revision;
  }

  /** etcd's ID of its cluster. A cluster made from a snapshot has another ID. */
  async identity(signal: AbortSignal): Promise<string> {
    const { clusterId } = await this.#range({ key: `${this.#root}barrier` }, signal);
    return `etcd ${clusterId}`;
  }

  async *watch(
    prefix: string,
    afterRevision: number,
    signal: AbortSignal,
  ): AsyncGenerator<Batch, void> {
    const inbox = new Inbox<Buffer>();
    const onAbort = () => inbox.end(abortedBy(signal));
    if (signal.aborted) throw abortedBy(signal);
    signal.addEventListener('abort', onAbort, { once: true });
    const stream = await this.#client.stream(
      '/etcdserverpb.Watch/Watch',
      (message) => inbox.put(message),
      (error) => inbox.end(error),
      signal,
    );
    this.#watches.add(stream);
    try {
      const start = this.#root + prefix;
      stream.send(encodeWatch(start, this.#root + endOfPrefix(prefix), afterRevision + 1));
      for (;;) {
        const response = decodeWatchResponse(await inbox.take());
        yield* this.#batchesOf(response, afterRevision);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#watches.delete(stream);
      stream.close();
    }
  }

  requestProgress(): void {
    for (const stream of this.#watches) stream.send(encodeProgressRequest());
  }

  acceptStore(): void {
    this.#clusterId = undefined;
  }

  close(): Promise<void> {
    this.#client.close();
    return Promise.resolve();
  }

  /** A response may contain several transactions, each of them complete. */
  *#batchesOf(response: WatchResponse, afterRevision: number): Generator<Batch, void> {
    if (response.compactRevision !== 0) {
      throw new CausewayError('gone', `etcd has compacted up to ${response.compactRevision}`);
    }
    if (response.canceled) {
      throw new CausewayError('unavailable', `etcd ended the watch: ${response.cancelReason}`);
    }
    if (response.created) {
      // The revision in this response is etcd's, and the watch has not reached it yet. A watch that starts
      // after that revision is up to date. etcd reports no progress of such a watch, so this batch is the
      // only notification.
      if (response.revision <= afterRevision) yield { revision: afterRevision, changes: [] };
      return;
    }
    const batches = new Map<number, Batch['changes'][number][]>();
    for (const { key, value, revision } of response.events) {
      const change = { key: key.slice(this.#root.length), value, revision };
      const changes = batches.get(revision);
      if (changes === undefined) batches.set(revision, [change]);
      else changes.push(change);
    }
    for (const [revision, changes] of batches) yield { revision, changes };
    if (response.events.length === 0) yield { revision: response.revision, changes: [] };
  }

  /** Sends at once under low load; under high load, waiting transactions are sent together. */
  #sendQueued(): void {
    while (this.#underWay < mostUnderWay && this.#queue.length > 0) {
      const { count, transaction } = batchHead(this.#queue.map((each) => each.transaction));
      const batch = this.#queue.splice(0, count);
      this.#underWay += 1;
      void this.#sendBatch(transaction, batch).finally(() => {
        this.#underWay -= 1;
        this.#sendQueued();
      });
    }
  }

  /** Never rejects: every member of the batch gets its own result. */
  async #sendBatch(transaction: Transaction, batch: readonly Queued[]): Promise<void> {
    try {
      const result = await this.#send(transaction);
      if (result.applied || batch.length === 1) {
        for (const { resolve } of batch) resolve(result);
        return;
      }
    } catch (error) {
      for (const { reject } of batch) reject(CausewayError.from(error));
      return;
    }
    // One transaction is out of date. Sending each one separately shows which.
    await Promise.all(
      batch.map((member) => this.#send(member.transaction).then(member.resolve, member.reject)),
    );
  }

  async #send({ conditions, writes }: Transaction): Promise<Committed> {
    const message = encodeTransaction({
      conditions: conditions.map(({ key, revision }) => ({ key: this.#root + key, revision })),
      writes: writes.map(({ key, value }) => ({ key: this.#root + key, value })),
    });
    // Uses the client's own time limit: a single caller can't cancel the batch.
    const response = await this.#client.call('/etcdserverpb.KV/Txn', message, unhurried);
    return decodeTransactionResponse(response);
  }

  async #range(range: KeyRange, signal: AbortSignal): Promise<RangeResponse> {
    const response = decodeRangeResponse(
      await this.#client.call('/etcdserverpb.KV/Range', encodeRange(range), signal),
    );
    this.#clusterId ??= response.clusterId;
    if (this.#clusterId === response.clusterId) return response;
    throw new PutBack(
      'this etcd is another cluster than before: it was replaced or put back to an earlier state',
    );
  }

  #withoutRoot(entry: Entry): Entry {
    return { ...entry, key: entry.key.slice(this.#root.length) };
  }
}
