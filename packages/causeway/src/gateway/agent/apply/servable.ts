import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { isUnroutable } from '@causeway/base/address/unroutable-address';
import { endpointKey, type Endpoint, type EndpointKey } from '../../protocol/endpoint.ts';
import type { Rejection } from '../../protocol/rejection.ts';
import type { Update } from '../../protocol/update.ts';

/**
 * The addresses that a gateway can hold. A single unsupported address would prevent the announcement of all
 * others.
 */
export interface ServableAddresses {
  readonly families: ReadonlySet<Family>;
  /** Addresses that are already in use, with their use. Serving one would cut it off. */
  readonly taken: ReadonlyMap<Address, string>;
  /** Several groups are active: replies return to this group only if it has rewritten the source. */
  readonly isOneOfSeveral?: boolean;
}

/** Why the address can't be a virtual address here; undefined if it can. */
export function whyUnservable(
  { families, taken }: ServableAddresses,
  address: Address,
): string | undefined {
  const harm = whyHarmful(taken, address);
  if (harm !== undefined) return harm;
  const family = familyOf(address);
  if (families.has(family)) return undefined;
  return `this gateway has no IPv${family} address in the external network, so ${address} can't be announced`;
}

/** Why rules for the address would cut off its current user; undefined if they would not. */
export function whyHarmful(
  taken: ServableAddresses['taken'],
  address: Address,
): string | undefined {
  if (isUnroutable(address)) return `${address} is not an address that clients can connect to`;
  const owner = taken.get(address);
  return owner === undefined ? undefined : `${address} is ${owner}`;
}

/** The update without frontends that can't be served. They count as bad, and the others are applied. */
export function setUnservableAside(push: Update, servable: ServableAddresses): Update {
  const unservable = findUnservable(push, servable);
  if (unservable.size === 0) return push;
  const endpoints = new Map(push.endpoints);
  const badEndpoints = new Map(push.badEndpoints);
  const complaints: Rejection[] = [...push.complaints];
  for (const [key, message] of unservable) {
    const endpoint = push.endpoints.get(key);
    endpoints.delete(key);
    badEndpoints.set(key, message);
    complaints.push({ endpoint, record: 0, message });
  }
  return { ...push, endpoints, badEndpoints, complaints };
}

/** For requests that are applied completely or not at all. */
export function refuseUnservable(push: Update, servable: ServableAddresses): Update {
  for (const [key, message] of findUnservable(push, servable)) {
    throw new CausewayError('invalid', `${key} can't be served: ${message}`);
  }
  return push;
}

function whyLost({ isOneOfSeveral }: ServableAddresses, endpoint: Endpoint): string | undefined {
  if (isOneOfSeveral !== true || endpoint.masquerade === 'always') return undefined;
  return 'several groups of gateways are active, so its source has to be rewritten (masquerade: always)';
}

function findUnservable(push: Update, servable: ServableAddresses): Map<EndpointKey, string> {
  const found = new Map<EndpointKey, string>();
  for (const endpoint of push.endpoints.values()) {
    const why = whyUnservable(servable, endpoint.address) ?? whyLost(servable, endpoint);
    if (why !== undefined) found.set(endpointKey(endpoint), why);
  }
  return found;
}
