import { MessageWriter } from '@causeway/netlink/writer';
import { writeElement } from './encode-elements.ts';
import { BatchEncoder } from './encode-operation.ts';
import { entryOffsets } from './decode.ts';
import { messageError, netlinkAckAttributes } from '@causeway/netlink/constants';
import { attributeList, readMessages } from '@causeway/netlink/reader';
import { elementId, type Element } from '../../model/ruleset.ts';
import {
  TransactionError,
  type ElementsOperation,
  type Operation,
} from '../../model/transaction.ts';

/** The kernel's error about one message. */
export interface KernelError {
  readonly sequence: number;
  readonly errno: number;
  /** Position of the error in the message, in bytes. */
  readonly offset: number | undefined;
}

const offsetAttribute = 2;
const errorHeaders = 20;
const errnoLength = 4;

/** Errors in an answer, in the order of their messages. */
export function kernelErrors(answer: Buffer): KernelError[] {
  const errors: KernelError[] = [];
  for (const { type, flags, sequence, payload } of readMessages(answer)) {
    if (type !== messageError || payload.length < errnoLength) continue;
    const errno = -payload.readInt32LE(0);
    if (errno === 0) continue;
    let offset: number | undefined;
    if ((flags & netlinkAckAttributes) !== 0) {
      for (const [attribute, value] of attributeList(payload.subarray(errorHeaders))) {
        if (attribute === offsetAttribute && value.length >= 4) offset = value.readUInt32LE(0);
      }
    }
    errors.push({ sequence, errno, offset });
  }
  return errors.sort((a, b) => a.sequence - b.sequence);
}

const errnoWords: Readonly<Record<number, string>> = {
  1: 'belongs to another process, or CAP_NET_ADMIN is missing',
  2: 'is not there',
  12: 'needs more memory than there is',
  16: 'is still in use',
  17: 'is there already',
  22: 'is not understood by this kernel',
  23: 'exceeds what a set may hold',
  85: 'the ruleset has changed in the meantime',
  95: 'is not supported by this kernel',
};

const errnoRestart = 85;
const conflicts = new Set([2, 16, 17, errnoRestart]);
const exhaustions = new Set([12, 23, 28]);

/** Adds the operation, and the element if any, to the kernel's error. */
export function transactionError(error: KernelError, batch: BatchEncoder): TransactionError {
  const origin = batch.origin(error.sequence);
  const operation = origin?.operation;
  const element =
    operation !== undefined && 'elements' in operation
      ? elementAtFault(operation, origin?.firstElement ?? 0, error.offset, batch.table)
      : undefined;
  const words = errnoWords[error.errno] ?? `failed with errno ${error.errno}`;
  const what = describe(operation, element);
  return new TransactionError(
    what === undefined ? words : `${what} ${words}`,
    { operation, element },
    { code: codeOf(error.errno) },
  );
}

function codeOf(errno: number): 'conflict' | 'internal' | 'forbidden' | 'exhausted' {
  if (errno === 1) return 'forbidden';
  if (conflicts.has(errno)) return 'conflict';
  return exhaustions.has(errno) ? 'exhausted' : 'internal';
}

function describe(operation: Operation | undefined, element: Element | undefined) {
  if (operation === undefined) return undefined;
  switch (operation.op) {
    case 'add-table':
    case 'remove-table':
      return 'the table';
    case 'add-chain':
    case 'remove-chain':
      return `the chain ${operation.chain}`;
    case 'set-rules':
      return `a rule of the chain ${operation.chain}, or what it refers to,`;
    case 'add-set':
      return `the set ${operation.definition.name}`;
    case 'remove-set':
    case 'flush-set':
      return `the set ${operation.set}`;
    case 'add-elements':
    case 'remove-elements':
      return element === undefined
        ? `an element of ${operation.set.name}`
        : `the element ${elementId(element)} of ${operation.set.name}`;
    default:
      return operation satisfies never;
  }
}

/** Writes the message again to find the element at the kernel's offset. */
function elementAtFault(
  operation: ElementsOperation,
  first: number,
  offset: number | undefined,
  table: string,
): Element | undefined {
  const rest = operation.elements.slice(first);
  if (rest.length === 1) return rest[0];
  if (offset === undefined) return undefined;
  const writer = new MessageWriter();
  const batch = new BatchEncoder(writer, table, 0, 1);
  batch.encode({ ...operation, elements: rest });
  const bytes = writer.bytes();
  const message = bytes.subarray(0, bytes.readUInt32LE(0));
  let entry = entryOffsets(message).findLastIndex((start) => start <= offset);
  for (const element of rest) {
    entry -= entriesOf(operation, element);
    if (entry < 0) return element;
  }
  return undefined;
}

function entriesOf({ set }: ElementsOperation, element: Element): number {
  const writer = new MessageWriter(256);
  writeElement(writer, set, element, false);
  return [...attributeList(writer.bytes())].length;
}
