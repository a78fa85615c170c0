import type { Address, Family } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';

/** A part of a packet, or of its connection, that a rule can match. */
export type Operand =
  | { readonly kind: 'source' | 'destination'; readonly family: Family }
  | { readonly kind: 'original-destination'; readonly family: Family }
  | { readonly kind: 'original-destination-port' }
  | { readonly kind: 'protocol' }
  | { readonly kind: 'family' }
  | { readonly kind: 'source-port' | 'destination-port' }
  | { readonly kind: 'tcp-flags' }
  /** TTL of IPv4, hop limit of IPv6. */
  | { readonly kind: 'ttl'; readonly family: Family }
  | { readonly kind: 'vrrp-router-id' }
  | { readonly kind: 'icmp-type' | 'icmpv6-type' }
  | { readonly kind: 'connection-state' | 'connection-status' | 'connection-direction' }
  /** Type of the source by the routing table: 2 for an address of this machine. */
  | { readonly kind: 'source-type' }
  /** 0 if a process of this machine has a socket for the packet; without one no rule matches it. */
  | { readonly kind: 'socket' }
  | HashOperand
  | { readonly kind: 'random'; readonly modulus: number; readonly offset?: number };

/** A keyed hash of other operands, scaled to 0 .. modulus - 1, plus the offset. The same on every machine. */
export interface HashOperand {
  readonly kind: 'hash';
  readonly of: readonly Operand[];
  readonly modulus: number;
  readonly seed: number;
  readonly offset?: number;
}

export type Verdict =
  | { readonly kind: 'accept' | 'drop' | 'return' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string };

/** New destination of a packet. */
export type NatTarget =
  /** A map with an address and a port as its value. */
  | { readonly kind: 'backend-map'; readonly map: string; readonly key: readonly Operand[] }
  /** One map for the address, another for the port: many services share the same nodes. */
  | {
      readonly kind: 'split-maps';
      readonly addressMap: string;
      readonly addressKey: readonly Operand[];
      readonly portMap: string;
      readonly portKey: readonly Operand[];
    }
  | { readonly kind: 'backend'; readonly address: Address; readonly port: Port };

export type RejectReason = 'tcp-reset' | 'port-unreachable';

/** One step of a rule. The steps run in order until one does not match. */
export type Statement =
  | {
      readonly kind: 'compare';
      readonly operand: Operand;
      /** Bits of the operand to compare; defaults to all. */
      readonly mask?: number;
      readonly equal: boolean;
      readonly value: number;
    }
  | {
      readonly kind: 'lookup';
      readonly key: readonly Operand[];
      readonly set: string;
      readonly present: boolean;
    }
  /** The packet arrived through this interface, or one with this prefix in its name. */
  | { readonly kind: 'input-interface'; readonly name: string; readonly isPrefix: boolean }
  /** Continues with the map's verdict for the key; without an element, the rule does not match. */
  | { readonly kind: 'dispatch'; readonly key: readonly Operand[]; readonly map: string }
  | { readonly kind: 'dnat' | 'snat'; readonly family: Family; readonly to: NatTarget }
  | { readonly kind: 'masquerade' }
  /** To a port of this machine, on the address of the input interface. */
  | { readonly kind: 'redirect'; readonly port: Port }
  | { readonly kind: 'reject'; readonly reason: RejectReason }
  /** Adds the key to a dynamic set, or renews it there. */
  | {
      readonly kind: 'remember';
      readonly key: readonly Operand[];
      readonly set: string;
      readonly timeoutSeconds: number;
    }
  /** Removes the key from a dynamic set. */
  | { readonly kind: 'forget'; readonly key: readonly Operand[]; readonly set: string }
  /** Replaces all flags of a TCP packet. */
  | { readonly kind: 'set-tcp-flags'; readonly flags: number }
  /** Sends a copy of the packet to the listener of the NFLOG group. */
  | { readonly kind: 'log'; readonly group: number }
  /** Sends an unchanged copy to the machine at the map's address for the key. */
  | { readonly kind: 'send-to'; readonly key: readonly Operand[]; readonly map: string }
  /** Excludes the packet from connection tracking. */
  | { readonly kind: 'notrack' }
  | { readonly kind: 'verdict'; readonly verdict: Verdict };

export interface Rule {
  readonly statements: readonly Statement[];
}
