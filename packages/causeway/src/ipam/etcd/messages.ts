import { isNegative, MessageWriter, readFields } from './protobuf.ts';

/** The messages of etcd's v3 API that a ledger needs; field numbers are from its rpc.proto. */

export interface KeyRange {
  readonly key: string;
  /** If omitted: the single key. */
  readonly end?: string;
  readonly limit?: number;
  readonly descending?: boolean;
  /** If omitted: the newest. */
  readonly revision?: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
}

export function encodeRange(range: KeyRange): Buffer {
  return new MessageWriter()
    .text(1, range.key)
    .text(2, range.end ?? '')
    .number(3, range.limit ?? 0)
    .number(4, range.revision ?? 0)
    .number(5, range.descending === true ? 2 : 1)
    .finish();
}

export interface RangeResponse {
  /** Rounded, which is harmless: it is only compared. */
  readonly clusterId: number;
  readonly revision: number;
  readonly entries: readonly KeyValue[];
  readonly more: boolean;
}

export function decodeRangeResponse(message: Buffer): RangeResponse {
  let header = { clusterId: 0, revision: 0 };
  let more = false;
  const entries: KeyValue[] = [];
  for (const { number, value, bytes } of readFields(message)) {
    if (number === 1) header = decodeHeader(bytes);
    if (number === 2) entries.push(decodeKeyValue(bytes));
    if (number === 3) more = value !== 0;
  }
  return { ...header, entries, more };
}

export interface EtcdTransaction {
  readonly conditions: readonly { readonly key: string; readonly revision: number }[];
  readonly writes: readonly { readonly key: string; readonly value: string | undefined }[];
}

const compareModRevision = 2;

export function encodeTransaction({ conditions, writes }: EtcdTransaction): Buffer {
  const message = new MessageWriter();
  for (const { key, revision } of conditions) {
    // Result 0 is "equal" and is omitted. A key that doesn't exist compares as revision 0, which must be
    // written: the revision is a variant.
    const comparison = new MessageWriter().number(2, compareModRevision).text(3, key);
    message.message(1, comparison.present(6, revision));
  }
  for (const { key, value } of writes) {
    const operation = new MessageWriter();
    if (value === undefined) operation.message(3, new MessageWriter().text(1, key));
    else operation.message(2, new MessageWriter().text(1, key).text(2, value));
    message.message(2, operation);
  }
  return message.finish();
}

export function decodeTransactionResponse(message: Buffer): {
  applied: boolean;
  revision: number;
} {
  let applied = false;
  let revision = 0;
  for (const { number, value, bytes } of readFields(message)) {
    if (number === 1) ({ revision } = decodeHeader(bytes));
    if (number === 2) applied = value !== 0;
  }
  return { applied, revision };
}

export function encodeWatch(key: string, end: string, startRevision: number): Buffer {
  const create = new MessageWriter()
    .text(1, key)
    .text(2, end)
    .number(3, startRevision)
    .flag(4, true);
  return new MessageWriter().message(1, create).finish();
}

export function encodeProgressRequest(): Buffer {
  return new MessageWriter().message(3, new MessageWriter()).finish();
}

export interface WatchEvent {
  readonly key: string;
  readonly value: string | undefined;
  readonly revision: number;
}

export interface WatchResponse {
  readonly revision: number;
  /** Set in the answer to a progress request, which applies to all watches of the stream. */
  readonly isProgress: boolean;
  readonly created: boolean;
  readonly canceled: boolean;
  /** If not 0: the history up to this revision was compacted, and the watch has ended. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly events: readonly WatchEvent[];
}

export function decodeWatchResponse(message: Buffer): WatchResponse {
  const response = {
    revision: 0,
    isProgress: false,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    events: [] as WatchEvent[],
  };
  for (const { number, value, bytes } of readFields(message)) {
    if (number === 1) response.revision = decodeHeader(bytes).revision;
    if (number === 2) response.isProgress = isNegative(value);
    if (number === 3) response.created = value !== 0;
    if (number === 4) response.canceled = value !== 0;
    if (number === 5) response.compactRevision = value;
    if (number === 6) response.cancelReason = bytes.toString();
    if (number === 11) response.events.push(decodeEvent(bytes));
  }
  return response;
}

export function encodeAuthenticate(name: string, password: string): Buffer {
  return new MessageWriter().text(1, name).text(2, password).finish();
}

export function decodeToken(message: Buffer): string {
  let token = '';
  for (const { number, bytes } of readFields(message)) if (number === 2) token = bytes.toString();
  return token;
}

function decodeEvent(message: Buffer): WatchEvent {
  let deleted = false;
  let entry: KeyValue = { key: '', value: '', revision: 0 };
  for (const { number, value, bytes } of readFields(message)) {
    if (number === 1) deleted = value === 1;
    if (number === 2) entry = decodeKeyValue(bytes);
  }
  return { ...entry, value: deleted ? undefined : entry.value };
}

function decodeKeyValue(message: Buffer): KeyValue {
  let key = '';
  let content = '';
  let revision = 0;
  for (const { number, value, bytes } of readFields(message)) {
    if (number === 1) key = bytes.toString();
    if (number === 3) revision = value;
    if (number === 5) content = bytes.toString();
  }
  return { key, value: content, revision };
}

function decodeHeader(header: Buffer): { clusterId: number; revision: number } {
  let clusterId = 0;
  let revision = 0;
  for (const { number, value } of readFields(header)) {
    if (number === 1) clusterId = value;
    if (number === 3) revision = value;
  }
  return { clusterId, revision };
}
