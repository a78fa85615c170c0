import { setImmediate } from 'node:timers/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { Driver, ElementCount, ForeignChange } from '../driver.ts';
import { ForeignChangeQueue } from '../foreign-change-queue.ts';
import type { Element, PresentRuleset, TableFamily } from '../../model/ruleset.ts';
import type { Transaction } from '../../model/transaction.ts';
import {
  batchBegin,
  batchEnd,
  batchGeneration,
  groupNftables,
  netlinkRequest,
  subsystemNftables,
  tableFlags,
} from '@causeway/netlink/constants';
import { writeElements } from './encode-elements.ts';
import { BatchEncoder } from './encode-operation.ts';
import { EventSocket } from '@causeway/netlink/event-socket';
import { foreignChanges } from './foreign-events.ts';
import { kernelErrors, transactionError } from './kernel-error.ts';
import type { SocketOptions } from '@causeway/netlink/open-socket';
import { ExchangeSocket } from '@causeway/netlink/socket';
import { TableReader } from './table-reader.ts';
import { MessageWriter } from '@causeway/netlink/writer';

export interface NetlinkDriverOptions extends SocketOptions {
  readonly table: string;
  /** Defaults to `inet`. */
  readonly family?: TableFamily;
  /**
   * Own the table if the kernel supports it (from about 6.9): other programs can't edit it, a foreign `flush
   * ruleset` does not affect it, it outlives this process and can be adopted. Defaults to true.
   */
  readonly own?: boolean;
}

const owned = tableFlags.owner | tableFlags.persist;
const errnoInvalid = 22;
const errnoNotSupported = 95;
/** Elements that are encoded before the event loop runs. */
const elementsAtOnce = 4000;

/** Uses nf_tables directly: no process is spawned, a change takes a fraction of a millisecond. */
export class NetlinkDriver implements Driver {
  readonly table: string;
  readonly #options: NetlinkDriverOptions;
  readonly #socket: ExchangeSocket;
  readonly #reader: TableReader;
  #tableFlags: number;
  readonly #transactions = new SerialQueue();

  private constructor(options: NetlinkDriverOptions, socket: ExchangeSocket) {
    this.table = options.table;
    this.#options = options;
    this.#socket = socket;
    this.#reader = new TableReader(socket, options.table, options.family ?? 'inet');
    this.#tableFlags = options.own === false ? 0 : owned;
  }

  /** Opens the socket and adopts the table of an earlier process, if there is one. */
  static async open(options: NetlinkDriverOptions): Promise<NetlinkDriver> {
    const socket = await ExchangeSocket.open(options);
    const driver = new NetlinkDriver(options, socket);
    try {
      await driver.#takeOver();
      return driver;
    } catch (error) {
      await socket.close();
      throw error;
    }
  }

  get isOwned(): boolean {
    return this.#ownsTable;
  }
  #ownsTable = false;

  apply(transaction: Transaction, signal?: AbortSignal): Promise<void> {
    if (transaction.operations.length === 0) return Promise.resolve();
    return this.#transactions.run(() => this.#commit(transaction, signal));
  }

  read(signal?: AbortSignal): Promise<PresentRuleset | undefined> {
    return this.#reader.read(signal);
  }

  elements(set: string, signal?: AbortSignal): Promise<readonly Element[]> {
    return this.#reader.elements(set, signal);
  }

  counters(set: string, signal?: AbortSignal): Promise<ReadonlyMap<string, ElementCount>> {
    return this.#reader.counters(set, signal);
  }

  async *watch(signal: AbortSignal, onListening?: () => void): AsyncGenerator<ForeignChange> {
    const queue = new ForeignChangeQueue();
    const socket = await EventSocket.open(
      { ...this.#options, group: groupNftables },
      {
        onEvents: (bytes) => {
          const isOurs = (port: number) => port === this.#socket.portId;
          for (const change of foreignChanges(bytes, this.table, isOurs)) queue.push(change);
        },
        onOverrun: () => queue.push({ table: this.table, what: 'events were lost' }),
      },
    );
    try {
      onListening?.();
      yield* queue.until(signal);
    } finally {
      socket.close();
    }
  }

  async close(): Promise<void> {
    await this.#transactions.idle();
    await this.#socket.close();
  }

  async #takeOver(): Promise<void> {
    const table = await this.#reader.table();
    if (table === undefined || this.#tableFlags === 0) return;
    if (table.owner !== undefined) {
      throw new CausewayError('conflict', `the table ${this.table} is owned by another process`, {
        hint: `Stop the process that holds netlink port ${table.owner}.`,
      });
    }
    if ((table.flags & tableFlags.persist) === 0) return;
    await this.#commit({ table: this.table, operations: [{ op: 'add-table' }] }, undefined);
  }

  async #commit(transaction: Transaction, signal: AbortSignal | undefined): Promise<void> {
    const flags = this.#tableFlags;
    const { family = 'inet' } = this.#options;
    const batch = await encodeBatch(transaction, family, flags, this.#socket);
    const answer = await this.#socket.exchange(batch.bytes, batch.first, batch.last, signal);
    const [error] = kernelErrors(answer);
    const creates = transaction.operations.some(({ op }) => op === 'add-table');
    if (error === undefined) {
      if (creates) this.#ownsTable = flags !== 0;
      return;
    }
    const isAboutTable = batch.encoder.origin(error.sequence)?.operation.op === 'add-table';
    const unsupported = error.errno === errnoNotSupported || error.errno === errnoInvalid;
    if (flags !== 0 && isAboutTable && unsupported) {
      // An older kernel, or a table without ownership: it is watched instead.
      this.#tableFlags = 0;
      await this.#commit(transaction, signal);
      return;
    }
    throw transactionError(error, batch.encoder);
  }
}

interface EncodedBatch {
  readonly encoder: BatchEncoder;
  readonly bytes: Buffer;
  readonly first: number;
  readonly last: number;
}

/** The whole transaction in one datagram: the kernel applies it atomically. */
async function encodeBatch(
  transaction: Transaction,
  family: TableFamily,
  flags: number,
  socket: ExchangeSocket,
): Promise<EncodedBatch> {
  const writer = new MessageWriter();
  const first = socket.reserveSequence(1);
  writer.message(batchBegin, netlinkRequest, first, 0, subsystemNftables);
  if (transaction.basedOn !== undefined) writer.u32(batchGeneration, transaction.basedOn);
  writer.endMessage();
  const encoder = new BatchEncoder(writer, transaction.table, flags, first + 1, family);
  for (const operation of transaction.operations) {
    if (!('elements' in operation)) {
      encoder.encode(operation);
      continue;
    }
    let next = 0;
    while (next < operation.elements.length) {
      if (next > 0) await setImmediate();
      next = writeElements(encoder, operation, next, elementsAtOnce);
    }
  }
  const last = encoder.nextSequence - 1;
  encoder.askForAnswer();
  writer.message(batchEnd, netlinkRequest, last + 1, 0, subsystemNftables);
  writer.endMessage();
  socket.reserveSequence(encoder.origins.length + 1);
  return { encoder, bytes: writer.bytes(), first, last };
}
