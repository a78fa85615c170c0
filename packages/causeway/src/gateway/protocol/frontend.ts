import {
  compareAddresses,
  familyOf,
  isIpv4,
  parseAddress,
  type Address,
} from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, parseProtocol, type Port, type Protocol } from '@causeway/base/address/port';
import { prefixFamily, type Prefix } from '@causeway/base/address/prefix';
import { canonicalRanges, sameRanges } from '@causeway/base/address/range-list';

/** The identity of a frontend. The agent's reports are grouped by it. */
export interface FrontendId {
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
}

declare const frontendKeyBrand: unique symbol;
/** A frontend's identity in canonical form: `192.0.2.1:80/TCP`, `[2001:db8::1]:53/UDP`. */
export type FrontendKey = string & { readonly [frontendKeyBrand]: true };

/** A backend of a frontend: a node's or a pod's address and port. */
export interface Destination {
  readonly address: Address;
  readonly port: Port;
  /** The share of new connections relative to the other backends. 0 means draining. */
  readonly weight: number;
}

/** Session affinity. `client` hashes only the client's address. */
export type Affinity = 'none' | 'client';

/** Which packets get the gateway's address as their source: those that need it, or all. */
export type Masquerade = 'needed' | 'always';

export interface Frontend extends FrontendId {
  /** `namespace/name` of the Service, for information only. */
  readonly service: string | undefined;
  /** In canonical order and without duplicates. Empty with a node port or a route. */
  readonly destinations: readonly Destination[];
  /** The port of every node of the gateway state, instead of own backends. */
  readonly nodePort: Port | undefined;
  /**
   * Nodes that packets are sent to unchanged: every node of the gateway state, or these, in canonical order.
   * The nodes must handle the virtual address themselves.
   */
  readonly routedTo: 'nodes' | readonly Address[] | undefined;
  readonly affinity: Affinity;
  /** Empty means all clients. In canonical order. The frontends of a Service share the list. */
  readonly sourceRanges: readonly Prefix[];
  readonly masquerade: Masquerade;
}

export const largestWeight = 256;

export function frontendKey(id: FrontendId): FrontendKey {
  const host = isIpv4(id.address) ? id.address : `[${id.address}]`;
  return `${host}:${id.port}/${id.protocol}` as FrontendKey;
}

const keyPattern = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):([1-9][0-9]{0,4})\/([A-Z]+)$/;

export function parseFrontendKey(text: string): FrontendId {
  const match = keyPattern.exec(text);
  if (match === null) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} is not a frontend`, {
      hint: 'A frontend is written like 192.0.2.1:80/TCP or [2001:db8::1]:53/UDP.',
    });
  }
  const [, six, four, port, protocol] = match;
  return {
    address: parseAddress(six ?? four ?? ''),
    protocol: parseProtocol(protocol ?? ''),
    port: parsePort(Number(port)),
  };
}

export interface FrontendParts extends FrontendId {
  readonly service?: string | undefined;
  readonly destinations?: readonly Destination[] | undefined;
  readonly nodePort?: Port | undefined;
  readonly routedTo?: 'nodes' | readonly Address[] | undefined;
  readonly affinity?: Affinity | undefined;
  readonly sourceRanges?: readonly Prefix[] | undefined;
  readonly masquerade?: Masquerade | undefined;
}

/** Builds a frontend from parsed parts: canonical order, one family, no duplicate backends. */
export function makeFrontend(parts: FrontendParts): Frontend {
  const { address, protocol, port } = parts;
  const ways = [parts.destinations, parts.nodePort, parts.routedTo];
  if (ways.filter((way) => way !== undefined).length !== 1) {
    throw new CausewayError(
      'invalid',
      'a frontend has either destinations, a node port or nodes to route to',
    );
  }
  const destinations = [...(parts.destinations ?? [])].sort(compareDestinations);
  checkDestinations(address, destinations);
  return {
    address,
    protocol,
    port,
    service: parts.service,
    destinations,
    nodePort: parts.nodePort,
    routedTo: routeOf(parts),
    affinity: parts.affinity ?? 'none',
    sourceRanges: rangesOfFamily(address, parts.sourceRanges ?? []),
    masquerade: parts.masquerade ?? 'needed',
  };
}

function routeOf({ address, routedTo, masquerade }: FrontendParts): Frontend['routedTo'] {
  if (routedTo === undefined) return undefined;
  if (masquerade === 'always') {
    throw new CausewayError('invalid', 'packets that are routed unchanged keep their source', {
      hint: 'Leave masquerade out, or use destinations or a node port.',
    });
  }
  if (routedTo === 'nodes') return routedTo;
  const other = routedTo.find((node) => familyOf(node) !== familyOf(address));
  if (other !== undefined) {
    throw new CausewayError('invalid', `the node ${other} is not of the family of ${address}`);
  }
  return [...new Set(routedTo)].sort(compareAddresses);
}

function checkDestinations(address: Address, destinations: readonly Destination[]): void {
  for (const [index, destination] of destinations.entries()) {
    if (familyOf(destination.address) !== familyOf(address)) {
      throw new CausewayError(
        'invalid',
        `the destination ${destination.address} is not of the family of ${address}`,
      );
    }
    const before = destinations[index - 1];
    if (before !== undefined && compareDestinations(before, destination) === 0) {
      throw new CausewayError(
        'invalid',
        `the destination ${destination.address} port ${destination.port} is a duplicate`,
      );
    }
    if (!isWeight(destination.weight)) {
      throw new CausewayError('invalid', `a weight is a whole number from 0 to ${largestWeight}`);
    }
  }
}

/** Most frontends have no ranges, and share this list. */
const everybody: readonly Prefix[] = [];

/**
 * A range of the other family matches no client of this address, and Services have ranges of both families.
 */
function rangesOfFamily(address: Address, all: readonly Prefix[]): readonly Prefix[] {
  if (all.length === 0) return everybody;
  const family = familyOf(address);
  const canonical = canonicalRanges(all);
  const [first, last] = [canonical[0], canonical.at(-1)];
  const isOfFamily = [first, last].every((range) => range && prefixFamily(range) === family);
  const ranges = isOfFamily
    ? canonical
    : canonicalRanges(canonical.filter((range) => prefixFamily(range) === family));
  if (ranges.length === 0) {
    throw new CausewayError('invalid', `no source range is of the family of ${address}`, {
      hint: 'Name at least one range of each family that the Service has an address in.',
    });
  }
  return ranges;
}

function compareDestinations(left: Destination, right: Destination): number {
  return compareAddresses(left.address, right.address) || left.port - right.port;
}

function isWeight(weight: number): boolean {
  return Number.isInteger(weight) && weight >= 0 && weight <= largestWeight;
}

export function sameFrontend(left: Frontend, right: Frontend): boolean {
  return (
    left.service === right.service &&
    left.affinity === right.affinity &&
    left.masquerade === right.masquerade &&
    left.nodePort === right.nodePort &&
    String(left.routedTo) === String(right.routedTo) &&
    left.destinations.length === right.destinations.length &&
    left.destinations.every((destination, index) => {
      const other = right.destinations[index];
      return (
        other !== undefined &&
        compareDestinations(destination, other) === 0 &&
        destination.weight === other.weight
      );
    }) &&
    sameRanges(left.sourceRanges, right.sourceRanges)
  );
}
