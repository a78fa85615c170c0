import type { Family } from '@causeway/base/address/address';
import type { Protocol } from '@causeway/base/address/port';
import type { Operand, Statement, Verdict } from './expression.ts';

/** Short names for the parts of rules, so that the layout reads like its rules. */

export const protocolNumbers: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };
export const vrrp = 112;
export const vrrpRouterId: Operand = { kind: 'vrrp-router-id' };
export const ttl = (family: Family): Operand => ({ kind: 'ttl', family });

export const families = [4, 6] as const;

export const source = (family: Family): Operand => ({ kind: 'source', family });
export const destination = (family: Family): Operand => ({ kind: 'destination', family });
export const protocol: Operand = { kind: 'protocol' };
export const sourcePort: Operand = { kind: 'source-port' };
export const destinationPort: Operand = { kind: 'destination-port' };

/** Destination of a packet: the key of most maps. */
export const target = (family: Family): Operand[] => [
  destination(family),
  protocol,
  destinationPort,
];

/** Original destination of the connection, before rewriting. */
export const originalTarget = (family: Family): Operand[] => [
  { kind: 'original-destination', family },
  protocol,
  { kind: 'original-destination-port' },
];

export const equals = (operand: Operand, value: number): Statement => ({
  kind: 'compare',
  operand,
  equal: true,
  value,
});

export const differs = (operand: Operand, value: number): Statement => ({
  kind: 'compare',
  operand,
  equal: false,
  value,
});

export const isFamily = (family: Family): Statement =>
  equals({ kind: 'family' }, family === 4 ? 2 : 10);

export const isIn = (key: readonly Operand[], set: string): Statement => ({
  kind: 'lookup',
  key,
  set,
  present: true,
});

export const isNotIn = (key: readonly Operand[], set: string): Statement => ({
  kind: 'lookup',
  key,
  set,
  present: false,
});

export const verdict = (value: Verdict): Statement => ({ kind: 'verdict', verdict: value });
export const accept = verdict({ kind: 'accept' });
export const drop = verdict({ kind: 'drop' });
export const goto = (chain: string): Statement => verdict({ kind: 'goto', chain });
export const jump = (chain: string): Statement => verdict({ kind: 'jump', chain });

/** The connection's destination was rewritten (IPS_DST_NAT). */
export const isDestinationRewritten: Statement = {
  kind: 'compare',
  operand: { kind: 'connection-status' },
  mask: 0x20,
  equal: true,
  value: 0x20,
};

/** It was not rewritten, or to the same value: the kernel does not distinguish them. */
export const isDestinationAsItWas: Statement = {
  kind: 'compare',
  operand: { kind: 'connection-status' },
  mask: 0x20,
  equal: true,
  value: 0,
};

/** The first packet of a connection, or a repeated one before an answer. */
export const isNew: Statement = {
  kind: 'compare',
  operand: { kind: 'connection-state' },
  mask: 0x8,
  equal: false,
  value: 0,
};

/** Established or related. */
export const isUnderWay: Statement = {
  kind: 'compare',
  operand: { kind: 'connection-state' },
  mask: 0x6,
  equal: false,
  value: 0,
};

/** Conntrack can't assign the packet, so nothing was rewritten in it. */
export const isInvalid: Statement = {
  kind: 'compare',
  operand: { kind: 'connection-state' },
  mask: 0x1,
  equal: false,
  value: 0,
};

/** Not tracked, like a copy that `dup` sends. */
export const isUntracked: Statement = {
  kind: 'compare',
  operand: { kind: 'connection-state' },
  mask: 0x40,
  equal: false,
  value: 0,
};

/** The source is an address of this machine (RTN_LOCAL). */
export const isFromMachine = equals({ kind: 'source-type' }, 2);

/** A process of this machine receives the packet. Otherwise the kernel would refuse it. */
export const hasSocket = equals({ kind: 'socket' }, 0);

export const isReply = equals({ kind: 'connection-direction' }, 1);

const synAlone = {
  kind: 'compare',
  operand: { kind: 'tcp-flags' },
  mask: 0x17,
  value: 0x02,
} as const;

export const isReset: Statement = {
  kind: 'compare',
  operand: { kind: 'tcp-flags' },
  mask: 0x04,
  equal: true,
  value: 0x04,
};

export const tcpAck = 0x10;

/** The end of one direction of a connection: of FIN, SYN, RST and ACK, FIN and ACK alone. */
export const isFin: Statement = {
  kind: 'compare',
  operand: { kind: 'tcp-flags' },
  mask: 0x17,
  equal: true,
  value: 0x11,
};

/** The first packet of a connection: of FIN, SYN, RST and ACK, SYN alone. */
export const isPlainSyn: Statement = { ...synAlone, equal: true };
export const isNotPlainSyn: Statement = { ...synAlone, equal: false };
