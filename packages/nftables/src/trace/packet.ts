import { addressBytes, familyOf, type Address } from '@causeway/base/address/address';
import type { Operand } from '../model/expression.ts';
import { jhash, scaleHash } from '../compile/jhash.ts';
import type { Field } from '../model/ruleset.ts';

/** A packet in the tracer, with conntrack's state of its connection. */
export interface Packet {
  readonly source: Address;
  readonly destination: Address;
  /** The protocol number in the packet: 6 for TCP. */
  readonly protocol: number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  /** Defaults to a plain SYN. */
  readonly tcpFlags?: number;
  readonly icmpType?: number;
  /** TTL or hop limit; defaults to 64. */
  readonly ttl?: number;
  /** Of a VRRP packet. */
  readonly vrrpRouterId?: number;
  /** The input interface; none for the machine's own packets. */
  readonly inputInterface?: string;
  /** The source is an address of this machine. */
  readonly isFromMachine?: boolean;
  /** A process of this machine receives it. Defaults to true. */
  readonly hasSocket?: boolean;
  readonly connection: Connection;
}

export interface Connection {
  readonly state: 'new' | 'established' | 'related' | 'invalid' | 'untracked';
  readonly reply: boolean;
  readonly destinationRewritten: boolean;
  /** The connection ends with this packet, the first answer, which is a refusal. */
  readonly isRefused?: boolean;
  readonly originalDestination: Address;
  readonly originalDestinationPort?: number;
}

const stateBits = { invalid: 1, established: 2, related: 4, new: 8, untracked: 0x40 } as const;
const trackedStates: ReadonlySet<string> = new Set(['new', 'established', 'related']);
const localType = 2;
const unicastType = 1;
const synFlag = 0x02;
const usualTtl = 64;
const destinationRewrittenBit = 0x20;
const dyingBit = 0x200;

/** The operand's value for the packet; undefined if the packet has none. */
export function evaluate(
  operand: Operand,
  packet: Packet,
  random: () => number,
): Field | undefined {
  const { connection } = packet;
  switch (operand.kind) {
    case 'source':
      return ofFamily(packet.source, operand.family);
    case 'destination':
      return ofFamily(packet.destination, operand.family);
    case 'original-destination':
      return ofFamily(connection.originalDestination, operand.family);
    case 'original-destination-port':
      return connection.originalDestinationPort;
    case 'ttl':
      return packet.ttl ?? usualTtl;
    case 'hash':
      return withOffset(hashOf(operand.of, packet, operand.modulus, operand.seed), operand.offset);
    case 'random':
      return withOffset(Math.floor(random() * operand.modulus), operand.offset);
    case 'source-type':
      return packet.isFromMachine === true ? localType : unicastType;
    case 'socket':
      return packet.hasSocket === false ? undefined : 0;
    case 'connection-state':
      return stateBits[connection.state];
    case 'connection-status':
      return (
        (connection.destinationRewritten ? destinationRewrittenBit : 0) |
        (connection.isRefused === true ? dyingBit : 0)
      );
    case 'connection-direction':
      return trackedStates.has(connection.state) ? Number(connection.reply) : undefined;
    default:
      return plainOperand(operand.kind, packet);
  }
}

type PlainKind = Exclude<
  Operand['kind'],
  | 'source'
  | 'destination'
  | 'original-destination'
  | 'original-destination-port'
  | 'ttl'
  | 'hash'
  | 'random'
  | 'source-type'
  | 'socket'
  | 'connection-state'
  | 'connection-status'
  | 'connection-direction'
>;

function plainOperand(kind: PlainKind, packet: Packet): number | undefined {
  switch (kind) {
    case 'protocol':
      return packet.protocol;
    case 'family':
      return familyOf(packet.destination) === 4 ? 2 : 10;
    case 'source-port':
      return packet.sourcePort;
    case 'destination-port':
      return packet.destinationPort;
    case 'tcp-flags':
      return packet.protocol === 6 ? (packet.tcpFlags ?? synFlag) : undefined;
    case 'vrrp-router-id':
      return packet.vrrpRouterId;
    case 'icmp-type':
      return packet.protocol === 1 ? packet.icmpType : undefined;
    case 'icmpv6-type':
      return packet.protocol === 58 ? packet.icmpType : undefined;
    default:
      return kind satisfies never;
  }
}

function withOffset(value: number | undefined, offset = 0): number | undefined {
  return value === undefined ? undefined : value + offset;
}

function ofFamily(address: Address, family: 4 | 6): Address | undefined {
  return familyOf(address) === family ? address : undefined;
}

/** Arranges the operands as in the kernel's registers: each on a four-byte boundary. */
function hashOf(
  operands: readonly Operand[],
  packet: Packet,
  modulus: number,
  seed: number,
): number | undefined {
  const parts: Uint8Array[] = [];
  for (const operand of operands) {
    const value = evaluate(operand, packet, () => 0);
    if (value === undefined) return undefined;
    if (operand.kind === 'source-port' || operand.kind === 'destination-port') {
      parts.push(Uint8Array.of(Number(value) >> 8, Number(value) & 0xff, 0, 0));
    } else if (operand.kind === 'source' || operand.kind === 'destination') {
      parts.push(addressBytes(value as Address));
    } else {
      parts.push(Uint8Array.of(Number(value), 0, 0, 0));
    }
  }
  return scaleHash(jhash(Buffer.concat(parts), seed), modulus);
}
