import type { Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { messageDone, messageError } from '@causeway/netlink/constants';
import { genericLength, headerLength } from '@causeway/netlink/reader';
import {
  addressTypes,
  answered,
  attribute,
  protocolAttribute,
  tupleAttribute,
  type Query,
  type Tracked,
  type Tuple,
} from './tracked-connection.ts';

const typeMask = 0x3fff;

/**
 * The connections in one datagram of a dump that match the query. A connection is valid as long as the datagram is.
 * Attributes are read in place: a table has hundreds of thousands of entries, and objects for the attributes of each
 * would take most of the time. Throws if the kernel has rejected the dump.
 */
export function* connectionsIn(part: Buffer, query: Query): Generator<Tracked> {
  for (let at = 0; at + headerLength <= part.length; ) {
    const length = part.readUInt32LE(at);
    if (length < headerLength || at + length > part.length) return;
    const type = part.readUInt16LE(at + 4);
    if (type === messageError) rejectError(part, at + headerLength, at + length);
    else if (type !== messageDone) {
      const tracked = readConnection(part, at + headerLength + genericLength, at + length, query);
      if (tracked !== undefined) yield tracked;
    }
    at += (length + 3) & ~3;
  }
}

/** The connection in the payload of one message; undefined if the query does not match it. */
export function connectionOf(payload: Buffer, query: Query): Tracked | undefined {
  return readConnection(payload, genericLength, payload.length, query);
}

function rejectError(part: Buffer, from: number, to: number): void {
  const errno = to - from < 4 ? 0 : -part.readInt32LE(from);
  if (errno === 0) return;
  throw new CausewayError('unavailable', `conntrack could not be read: errno ${errno}`);
}

function readConnection(part: Buffer, from: number, to: number, query: Query): Tracked | undefined {
  const { family, protocol, status: wanted = 0, virtual } = query;
  const found = new Fields();
  found.read(part, from, to);
  const { original: at, reply: back, status } = found;
  if (wanted !== 0 && (status & wanted) === 0) return undefined;
  if (at === 0 || back === 0) return undefined;
  if (virtual !== undefined) {
    const isTo = (from: number, to: number) => virtual.has(destinationTail(part, from, to, family));
    if (!isTo(at, found.originalEnd) && !isTo(back, found.replyEnd)) return undefined;
  }
  const original = readTuple(part, at, found.originalEnd, family);
  if (original === undefined) return undefined;
  if (protocol !== undefined && original.protocol !== protocol) return undefined;
  const reply = readTuple(part, back, found.replyEnd, family);
  if (reply === undefined) return undefined;
  return {
    original,
    reply,
    rawOriginal: part.subarray(at, found.originalEnd),
    family,
    rawId: found.id === 0 ? undefined : part.subarray(found.id, found.id + 4),
    isAnswered: (status & answered) !== 0,
  };
}

/** Positions of the attributes of a connection; 0 if one is missing. */
class Fields {
  original = 0;
  originalEnd = 0;
  reply = 0;
  replyEnd = 0;
  id = 0;
  status = 0;

  read(part: Buffer, from: number, to: number): void {
    for (let at = from; at + 4 <= to; ) {
      const length = part.readUInt16LE(at);
      if (length < 4 || at + length > to) return;
      this.#take(part, part.readUInt16LE(at + 2) & typeMask, at + 4, at + length);
      at += (length + 3) & ~3;
    }
  }

  #take(part: Buffer, type: number, start: number, end: number): void {
    if (type === attribute.original) {
      this.original = start;
      this.originalEnd = end;
    } else if (type === attribute.reply) {
      this.reply = start;
      this.replyEnd = end;
    } else if (type === attribute.status && end - start >= 4) {
      this.status = part.readUInt32BE(start);
    } else if (type === attribute.id && end - start === 4) {
      this.id = start;
    }
  }
}

/** The last four bytes of the destination of a tuple, without reading the rest of it; -1 if there is none. */
function destinationTail(part: Buffer, from: number, to: number, family: Family): number {
  const start = findAttribute(part, from, to, tupleAttribute.addresses);
  if (start < 0) return -1;
  const end = start + part.readUInt16LE(start);
  const at = findAttribute(part, start + 4, end, addressTypes(family)[1]);
  if (at < 0) return -1;
  const length = part.readUInt16LE(at);
  return length < 8 ? -1 : part.readUInt32BE(at + length - 4);
}

/** The start of the attribute, with its header; -1 if there is none. */
function findAttribute(part: Buffer, from: number, to: number, wanted: number): number {
  for (let at = from; at + 4 <= to; ) {
    const length = part.readUInt16LE(at);
    if (length < 4 || at + length > to) return -1;
    if ((part.readUInt16LE(at + 2) & typeMask) === wanted) return at;
    at += (length + 3) & ~3;
  }
  return -1;
}

class TupleFields {
  source = '';
  destination = '';
  protocol = 0;
  sourcePort = 0;
  destinationPort = 0;

  /** Reads the attributes of a tuple: two lists, of the addresses and of the protocol. */
  read(part: Buffer, from: number, to: number, family: Family): void {
    for (let at = from; at + 4 <= to; ) {
      const length = part.readUInt16LE(at);
      if (length < 4 || at + length > to) return;
      const type = part.readUInt16LE(at + 2) & typeMask;
      if (type === tupleAttribute.addresses) this.#addresses(part, at + 4, at + length, family);
      else if (type === tupleAttribute.protocol) this.#protocol(part, at + 4, at + length);
      at += (length + 3) & ~3;
    }
  }

  #addresses(part: Buffer, from: number, to: number, family: Family): void {
    const [sourceType, destinationType] = addressTypes(family);
    for (let at = from; at + 4 <= to; ) {
      const length = part.readUInt16LE(at);
      if (length < 4 || at + length > to) return;
      const type = part.readUInt16LE(at + 2) & typeMask;
      if (type === sourceType) this.source = part.toString('latin1', at + 4, at + length);
      else if (type === destinationType)
        this.destination = part.toString('latin1', at + 4, at + length);
      at += (length + 3) & ~3;
    }
  }

  #protocol(part: Buffer, from: number, to: number): void {
    for (let at = from; at + 4 <= to; ) {
      const length = part.readUInt16LE(at);
      if (length < 4 || at + length > to) return;
      const type = part.readUInt16LE(at + 2) & typeMask;
      if (type === protocolAttribute.number) this.protocol = part[at + 4] ?? 0;
      else if (type === protocolAttribute.sourcePort) this.sourcePort = readPort(part, at, length);
      else if (type === protocolAttribute.destinationPort) {
        this.destinationPort = readPort(part, at, length);
      }
      at += (length + 3) & ~3;
    }
  }
}

function readTuple(part: Buffer, from: number, to: number, family: Family): Tuple | undefined {
  const fields = new TupleFields();
  fields.read(part, from, to, family);
  return fields.source === '' || fields.destination === '' ? undefined : fields;
}

function readPort(part: Buffer, at: number, length: number): number {
  return length < 6 ? 0 : part.readUInt16BE(at + 4);
}
