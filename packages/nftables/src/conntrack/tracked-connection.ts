import type { Family } from '@causeway/base/address/address';
import {
  netlinkAck,
  netlinkDump,
  netlinkRequest,
  subsystemConntrack,
} from '@causeway/netlink/constants';
import type { Attributes } from '@causeway/netlink/reader';
import { MessageWriter } from '@causeway/netlink/writer';

const getMessage = 1;
const deleteMessage = 2;
const attribute = {
  original: 1,
  reply: 2,
  status: 3,
  id: 12,
  filter: 25,
  statusMask: 26,
} as const;
const tupleAttribute = { addresses: 1, protocol: 2 } as const;
const filterAttribute = { original: 1, reply: 2 } as const;
/** The parts of the tuple in a request that a connection must match. */
const likeIn = {
  source: 1 << 0,
  destination: 1 << 1,
  protocol: 1 << 3,
  sourcePort: 1 << 4,
  destinationPort: 1 << 5,
} as const;
const protocolAttribute = { number: 1, sourcePort: 2, destinationPort: 3 } as const;
export const sourceRewritten = 0x10;
export const destinationRewritten = 0x20;
const answered = 0x2;
const nestedFlag = 0x8000;

interface Tuple {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A connection as conntrack stores it: the original tuple and the reply tuple. */
export interface Tracked {
  readonly original: Tuple;
  readonly reply: Tuple;
  readonly rawOriginal: Buffer;
  readonly rawId: Buffer | undefined;
  readonly family: Family;
  readonly isAnswered: boolean;
}

/** A search in the kernel's conntrack table. */
export interface Query {
  readonly family: Family;
  /** Defaults to all. */
  readonly protocol?: number | undefined;
  readonly status?: number | undefined;
  /** Only unanswered connections. */
  readonly isUnanswered?: boolean | undefined;
}

/**
 * The kernel filters where it can, and its results are filtered again here. A node may have hundreds of
 * thousands of connections, most of them TCP; a search for UDP flows does not list those.
 */
export function listRequest(query: Query, sequence: number): Buffer {
  const { family, protocol, status, isUnanswered = false } = query;
  const writer = new MessageWriter(128);
  const type = (subsystemConntrack << 8) | getMessage;
  writer.message(type, netlinkRequest | netlinkDump, sequence, familyNumber(family));
  if (status !== undefined) {
    writer.u32(attribute.status, status);
    writer.u32(attribute.statusMask, isUnanswered ? status | answered : status);
  }
  if (protocol !== undefined) {
    writer.nest(attribute.original, () =>
      writer.nest(tupleAttribute.protocol, () => writer.u8(protocolAttribute.number, protocol)),
    );
    writer.nest(attribute.filter, () =>
      writeLikeness(writer, filterAttribute.original, likeIn.protocol),
    );
  }
  writer.endMessage();
  return writer.bytes();
}

/** Unlike all other numbers, in the byte order of the machine. */
function writeLikeness(writer: MessageWriter, type: number, flags: number): void {
  writer.raw(type, 4, (buffer, at) => buffer.writeUInt32LE(flags, at));
}

/**
 * Deletes this connection if it is unanswered when the kernel processes the request. In IPv4 it deletes all
 * connections to the same address and backend ({@link deletedTogether}). Kernels before 6.8 treat it as the
 * deletion of a single connection that does not exist.
 */
export function unansweredDeletionRequest(tracked: Tracked, sequence: number): Buffer {
  const { family, original, reply } = tracked;
  const writer = new MessageWriter(256);
  const type = (subsystemConntrack << 8) | deleteMessage;
  writer.message(type, netlinkRequest | netlinkAck, sequence, familyNumber(family));
  const { opened, served } = likenesses[family];
  writeTuple(writer, attribute.original, original, family);
  writeTuple(writer, attribute.reply, reply, family);
  writer.nest(attribute.filter, () => {
    writeLikeness(writer, filterAttribute.original, opened);
    writeLikeness(writer, filterAttribute.reply, served);
  });
  writer.u32(attribute.status, 0);
  writer.u32(attribute.statusMask, answered);
  writer.endMessage();
  return writer.bytes();
}

/**
 * Criteria of a deletion. The kernel inverts the comparison of IPv6 addresses, and deletes all other
 * connections (seen in 6.18); there the ports of both sides must suffice.
 */
const likenesses = {
  4: {
    opened: likeIn.destination | likeIn.protocol | likeIn.destinationPort,
    served: likeIn.source | likeIn.protocol | likeIn.sourcePort,
  },
  6: {
    opened: likeIn.protocol | likeIn.sourcePort | likeIn.destinationPort,
    served: likeIn.protocol | likeIn.sourcePort | likeIn.destinationPort,
  },
} as const;

/** Connections with the same key are deleted by one request. */
export function deletedTogether({ family, original, reply }: Tracked): string {
  const { protocol, destination, sourcePort, destinationPort } = original;
  const ports = `${protocol} ${destinationPort} ${reply.sourcePort}`;
  if (family === 4) return `${ports} ${destination} ${reply.source}`;
  return `${ports} ${sourcePort} ${reply.destinationPort}`;
}

function writeTuple(writer: MessageWriter, direction: number, tuple: Tuple, family: Family): void {
  const [sourceType, destinationType] = addressTypes(family);
  writer.nest(direction, () => {
    writer.nest(tupleAttribute.addresses, () => {
      writer.bytesAttribute(sourceType, Buffer.from(tuple.source, 'latin1'));
      writer.bytesAttribute(destinationType, Buffer.from(tuple.destination, 'latin1'));
    });
    writer.nest(tupleAttribute.protocol, () => {
      writer.u8(protocolAttribute.number, tuple.protocol);
      writer.u16(protocolAttribute.sourcePort, tuple.sourcePort);
      writer.u16(protocolAttribute.destinationPort, tuple.destinationPort);
    });
  });
}

/** Requests one answer, to the last message. */
export function deletionRequest(entries: readonly Tracked[], first: number): Buffer {
  const writer = new MessageWriter(entries.length * 100);
  const type = (subsystemConntrack << 8) | deleteMessage;
  for (const [index, { family, rawOriginal, rawId }] of entries.entries()) {
    const flags = index === entries.length - 1 ? netlinkRequest | netlinkAck : netlinkRequest;
    writer.message(type, flags, first + index, familyNumber(family));
    writer.bytesAttribute(attribute.original | nestedFlag, rawOriginal);
    // The ID protects a newer connection with the same tuple.
    if (rawId !== undefined) writer.bytesAttribute(attribute.id, rawId);
    writer.endMessage();
  }
  return writer.bytes();
}

/** A connection of the answer; undefined if the query does not match it. */
export function decodeConnection(attributes: Attributes, query: Query): Tracked | undefined {
  const { family, protocol, status: wanted = 0 } = query;
  const status = attributes.u32(attribute.status) ?? 0;
  if (wanted !== 0 && (status & wanted) === 0) return undefined;
  const rawOriginal = attributes.bytes(attribute.original);
  const original = decodeTuple(attributes.nest(attribute.original), family);
  const reply = decodeTuple(attributes.nest(attribute.reply), family);
  if (rawOriginal === undefined || original === undefined || reply === undefined) return undefined;
  if (protocol !== undefined && original.protocol !== protocol) return undefined;
  return {
    original,
    reply,
    rawOriginal,
    family,
    rawId: attributes.bytes(attribute.id),
    isAnswered: (status & answered) !== 0,
  };
}

function decodeTuple(tuple: Attributes | undefined, family: Family): Tuple | undefined {
  const addresses = tuple?.nest(tupleAttribute.addresses);
  const protocol = tuple?.nest(tupleAttribute.protocol);
  const [sourceType, destinationType] = addressTypes(family);
  const source = addresses?.bytes(sourceType);
  const destination = addresses?.bytes(destinationType);
  if (source === undefined || destination === undefined) return undefined;
  return {
    source: source.toString('latin1'),
    destination: destination.toString('latin1'),
    protocol: protocol?.bytes(protocolAttribute.number)?.[0] ?? 0,
    sourcePort: readPort(protocol, protocolAttribute.sourcePort),
    destinationPort: readPort(protocol, protocolAttribute.destinationPort),
  };
}

function readPort(attributes: Attributes | undefined, type: number): number {
  const bytes = attributes?.bytes(type);
  return bytes === undefined || bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
}

function addressTypes(family: Family): readonly [source: number, destination: number] {
  return family === 4 ? [1, 2] : [3, 4];
}

function familyNumber(family: Family): number {
  return family === 4 ? 2 : 10;
}
