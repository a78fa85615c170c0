import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram, type ProgramOutcome } from '@causeway/base/process/run-program';
import type { Driver, ElementCount, ForeignChange } from './driver.ts';
import { ForeignChangeQueue } from './foreign-change-queue.ts';
import { groupNftables } from '@causeway/netlink/constants';
import { EventSocket } from '@causeway/netlink/event-socket';
import { foreignChanges } from './netlink/foreign-events.ts';
import { parseCounters, parseElements, parseListing } from './nft-json.ts';
import { elementText, operationsText } from './nft-text.ts';
import {
  elementId,
  type Element,
  type PresentRuleset,
  type TableFamily,
} from '../model/ruleset.ts';
import { TransactionError, type Operation, type Transaction } from '../model/transaction.ts';

export interface NftDriverOptions {
  readonly table: string;
  /** Defaults to `inet`. */
  readonly family?: TableFamily;
  readonly networkNamespace?: string;
}

/** Number of child processes with changes that count as ours; the kernel's notifications arrive shortly after. */
const maxKeptChildren = 64;

/**
 * Passes transactions to the program `nft`. Much slower than netlink, but the reference for the other driver.
 */
export class NftDriver implements Driver {
  readonly table: string;
  readonly isOwned = false;
  readonly #family: TableFamily;
  readonly #namespace: string | undefined;
  readonly #children: number[] = [];

  constructor(options: NftDriverOptions) {
    this.table = options.table;
    this.#family = options.family ?? 'inet';
    this.#namespace = options.networkNamespace;
  }

  async apply(transaction: Transaction, signal?: AbortSignal): Promise<void> {
    if (transaction.operations.length === 0) return;
    const script = new Script(transaction, this.#family);
    const result = await this.#nft(['-f', '-'], signal, script.text);
    if (result.code !== 0) throw script.explain(result.stderr);
  }

  async read(signal?: AbortSignal): Promise<PresentRuleset | undefined> {
    const result = await this.#nft(
      ['-j', '-nn', '-y', 'list', 'table', this.#family, this.table],
      signal,
    );
    if (result.code === 0) return parseListing(this.table, result.stdout);
    if (result.stderr.includes('No such file or directory')) return undefined;
    throw readError(result);
  }

  async elements(set: string, signal?: AbortSignal): Promise<readonly Element[]> {
    for (const kind of ['map', 'set']) {
      const args = ['-j', '-nn', '-y', 'list', kind, this.#family, this.table, set];
      const result = await this.#nft(args, signal);
      if (result.code === 0) return parseElements(set, result.stdout);
      if (!result.stderr.includes('No such file or directory')) throw readError(result);
    }
    return [];
  }

  async counters(set: string, signal?: AbortSignal): Promise<ReadonlyMap<string, ElementCount>> {
    const args = ['-j', '-nn', '-y', 'list', 'set', this.#family, this.table, set];
    const result = await this.#nft(args, signal);
    if (result.code === 0) return parseCounters(set, result.stdout);
    if (result.stderr.includes('No such file or directory')) {
      throw new CausewayError('not-found', `there is no set ${set} in ${this.table}`);
    }
    throw readError(result);
  }

  async *watch(signal: AbortSignal, onListening?: () => void): AsyncGenerator<ForeignChange> {
    const queue = new ForeignChangeQueue();
    const namespace = this.#namespace;
    const socket = await EventSocket.open(
      {
        group: groupNftables,
        ...(namespace === undefined ? {} : { networkNamespace: namespace }),
      },
      {
        onEvents: (bytes) => {
          // nft's netlink port is its process ID.
          const isOurs = (port: number) => this.#children.includes(port);
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

  close(): Promise<void> {
    return Promise.resolve();
  }

  #nft(
    args: readonly string[],
    signal: AbortSignal | undefined,
    input = '',
  ): Promise<ProgramOutcome> {
    const namespace = this.#namespace;
    const [program, ...rest] =
      namespace === undefined
        ? (['nft', ...args] as const)
        : (['nsenter', `--net=${namespace}`, 'nft', ...args] as const);
    return runProgram(program, rest, {
      signal,
      input,
      onStart: (processId) => {
        this.#children.push(processId);
        if (this.#children.length > maxKeptChildren) this.#children.shift();
      },
    });
  }
}

function readError(result: ProgramOutcome): CausewayError {
  const [line = 'nft failed'] = result.stderr.split('\n');
  return new CausewayError('unavailable', `nftables could not be read: ${line}`);
}

/** A transaction as text, with the operation of each line. */
class Script {
  readonly text: string;
  readonly #lines: { text: string; operation: Operation }[] = [];

  constructor(transaction: Transaction, family: TableFamily) {
    for (const operation of transaction.operations) {
      for (const lines of operationsText(transaction.table, [operation], family)) {
        for (const text of lines.split('\n')) this.#lines.push({ text, operation });
      }
    }
    this.text = `${this.#lines.map(({ text }) => text).join('\n')}\n`;
  }

  /** nft names the line and the columns; the first error is the cause. */
  explain(stderr: string): TransactionError {
    const found = /:(\d+):(\d+)-(\d+): Error: ([^\n]*)/.exec(stderr);
    if (found === null) {
      const [first = 'nft failed'] = stderr.split('\n');
      return new TransactionError(first, {}, { code: codeOf(first) });
    }
    const [, line = '0', start = '0', end = '0', complaint = ''] = found;
    const entry = this.#lines[Number(line) - 1];
    const operation = entry?.operation;
    const piece = entry?.text.slice(Number(start) - 1, Number(end)) ?? '';
    const element =
      operation !== undefined && 'elements' in operation
        ? operation.elements.find((candidate) => isAbout(piece, elementText(candidate)))
        : undefined;
    const what = element === undefined ? piece : `the element ${elementId(element)}`;
    return new TransactionError(
      `${what}: ${complaint}`,
      { operation, element },
      { code: codeOf(complaint) },
    );
  }
}

function isAbout(piece: string, text: string): boolean {
  const [key = text] = text.split(' : ');
  return piece === text || piece === key || piece.startsWith(`${key} `);
}

function codeOf(complaint: string): 'conflict' | 'internal' | 'forbidden' {
  if (/File exists|No such file|busy/.test(complaint)) return 'conflict';
  return /not permitted/.test(complaint) ? 'forbidden' : 'internal';
}
