import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import { isUnroutable } from '@causeway/base/address/unroutable-address';
import { frontendKey, type Frontend, type FrontendKey } from '../../protocol/frontend.ts';
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
  const frontends = new Map(push.frontends);
  const badFrontends = new Map(push.badFrontends);
  const complaints: Rejection[] = [...push.complaints];
  for (const [key, message] of unservable) {
    const frontend = push.frontends.get(key);
    frontends.delete(key);
    badFrontends.set(key, message);
    complaints.push({ frontend, record: 0, message });
  }
  return { ...push, frontends, badFrontends, complaints };
}

function whyLost({ isOneOfSeveral }: ServableAddresses, frontend: Frontend): string | undefined {
  if (isOneOfSeveral !== true || frontend.masquerade === 'always') return undefined;
  return 'several groups of gateways are active, so its source has to be rewritten (masquerade: always)';
}

function findUnservable(push: Update, servable: ServableAddresses): Map<FrontendKey, string> {
  const found = new Map<FrontendKey, string>();
  for (const frontend of push.frontends.values()) {
    const why = whyUnservable(servable, frontend.address) ?? whyLost(servable, frontend);
    if (why !== undefined) found.set(frontendKey(frontend), why);
  }
  return found;
}
