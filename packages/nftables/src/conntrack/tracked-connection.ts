import { addressBytes, familyOf, type Address, type Family } from '@causeway/base/address/address';
import {
  netlinkAck,
  netlinkDump,
  netlinkRequest,
  subsystemConntrack,
} from '@causeway/netlink/constants';
import { MessageWriter } from '@causeway/netlink/writer';

const getMessage = 1;
const deleteMessage = 2;
export const attribute = {
  original: 1,
  reply: 2,
  status: 3,
  id: 12,
  filter: 25,
  statusMask: 26,
} as const;
export const tupleAttribute = { addresses: 1, protocol: 2 } as const;
const filterAttribute = { original: 1, reply: 2 } as const;
/** The parts of the tuple in a request that a connection must match. */
const likeIn = {
  source: 1 << 0,
  destination: 1 << 1,
  protocol: 1 << 3,
  sourcePort: 1 << 4,
  destinationPort: 1 << 5,
} as const;
export const protocolAttribute = { number: 1, sourcePort: 2, destinationPort: 3 } as const;
export const sourceRewritten = 0x10;
export const destinationRewritten = 0x20;
export const answered = 0x2;
const nestedFlag = 0x8000;

export interface Tuple {
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
  /**
   * The virtual addresses that matter, by {@link addressTail}. Connections to other addresses are skipped early, because
   * a long answer takes most of its time to be read.
   */
  readonly virtual?: ReadonlySet<number> | undefined;
  /** Limits the answer further, if the kernel supports it. The caller must check each connection all the same. */
  readonly like?: { readonly original?: TuplePart; readonly reply?: TuplePart } | undefined;
}

/** The last four bytes of an address. */
export function addressTail(address: Address): number {
  return Buffer.from(addressBytes(address)).readUInt32BE(familyOf(address) === 4 ? 0 : 12);
}

/** Up to this many searches, the kernel walks its table for each. With more, one search without `like` costs less. */
export const mostFilters = 4;

/** The parts of a tuple that a connection must have. */
export type TuplePart = Partial<Omit<Tuple, 'protocol'>>;

/**
 * The kernel filters where it can, and the caller filters its answer again. A node may have hundreds of thousands of
 * connections; the kernel walks all of them, but only the matching ones are copied and read.
 */
export function listRequest(query: Query, sequence: number): Buffer {
  const { family, protocol, status, isUnanswered = false, like = {} } = query;
  const writer = new MessageWriter(256);
  const type = (subsystemConntrack << 8) | getMessage;
  writer.message(type, netlinkRequest | netlinkDump, sequence, familyNumber(family));
  if (status !== undefined) {
    writer.u32(attribute.status, status);
    writer.u32(attribute.statusMask, isUnanswered ? status | answered : status);
  }
  const original = { ...like.original, protocol };
  const reply = like.reply === undefined ? {} : { ...like.reply, protocol };
  const flags = [
    [filterAttribute.original, writePart(writer, attribute.original, original, family)],
    [filterAttribute.reply, writePart(writer, attribute.reply, reply, family)],
  ] as const;
  const used = flags.filter(([, flag]) => flag !== 0);
  if (used.length > 0) {
    writer.nest(attribute.filter, () => {
      for (const [direction, flag] of used) writeLikeness(writer, direction, flag);
    });
  }
  writer.endMessage();
  return writer.bytes();
}

/**
 * Writes the part of a tuple that the kernel compares. Returns its flags; 0 if there is nothing to compare. IPv6
 * addresses are left out, because the kernel inverts their comparison (seen in 6.18). Ports need a protocol.
 */
function writePart(
  writer: MessageWriter,
  direction: number,
  part: TuplePart & { readonly protocol?: number | undefined },
  family: Family,
): number {
  const { protocol, ...rest } = part;
  const sourcePort = protocol === undefined ? undefined : rest.sourcePort;
  const destinationPort = protocol === undefined ? undefined : rest.destinationPort;
  const source = family === 4 ? rest.source : undefined;
  const destination = family === 4 ? rest.destination : undefined;
  const flags =
    flagOf(source, likeIn.source) |
    flagOf(destination, likeIn.destination) |
    flagOf(protocol, likeIn.protocol) |
    flagOf(sourcePort, likeIn.sourcePort) |
    flagOf(destinationPort, likeIn.destinationPort);
  if (flags === 0) return 0;
  const [sourceType, destinationType] = addressTypes(family);
  writer.nest(direction, () => {
    if (source !== undefined || destination !== undefined) {
      writer.nest(tupleAttribute.addresses, () => {
        if (source !== undefined) writer.bytesAttribute(sourceType, bytesOf(source));
        if (destination !== undefined) writer.bytesAttribute(destinationType, bytesOf(destination));
      });
    }
    writer.nest(tupleAttribute.protocol, () => {
      if (protocol !== undefined) writer.u8(protocolAttribute.number, protocol);
      if (sourcePort !== undefined) writer.u16(protocolAttribute.sourcePort, sourcePort);
      if (destinationPort !== undefined) {
        writer.u16(protocolAttribute.destinationPort, destinationPort);
      }
    });
  });
  return flags;
}

function flagOf(value: unknown, flag: number): number {
  return value === undefined ? 0 : flag;
}

function bytesOf(binary: string): Buffer {
  return Buffer.from(binary, 'latin1');
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
      writer.bytesAttribute(sourceType, bytesOf(tuple.source));
      writer.bytesAttribute(destinationType, bytesOf(tuple.destination));
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

export function addressTypes(family: Family): readonly [source: number, destination: number] {
  return family === 4 ? [1, 2] : [3, 4];
}

function familyNumber(family: Family): number {
  return family === 4 ? 2 : 10;
}
