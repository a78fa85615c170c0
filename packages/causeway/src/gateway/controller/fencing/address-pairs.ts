import type { Address } from '@causeway/base/address/address';
import {
  formatPrefix,
  hostPrefix,
  prefixContains,
  type Prefix,
} from '@causeway/base/address/prefix';
import type { AddressPair, Port } from '@causeway/openstack/neutron/resources';
import type { AddressPairReport } from './address-pair-writer.ts';

/**
 * How gateways are allowed to use addresses that are not their own: by one pair for a whole network, or by
 * one pair for each address.
 */
export type PairMode = 'network' | 'single';

export interface PairRules {
  readonly mode: PairMode;
  /** The networks for the mode `network`. */
  readonly networks: readonly Prefix[];
  /**
   * The number of pairs that Neutron accepts on a port (`max_allowed_address_pair`, which its API does not
   * show).
   */
  readonly limit: number;
}

/** The pairs that let a port use these addresses. */
export function neededPrefixes(rules: PairRules, addresses: Iterable<Address>): Prefix[] {
  if (rules.mode === 'network') return [...rules.networks];
  return [...addresses].map(hostPrefix);
}

/** The port's pairs with these prefixes added or removed. Other pairs stay. */
export function changedPairs(
  present: readonly AddressPair[],
  prefixes: readonly Prefix[],
  change: 'add' | 'remove',
): readonly AddressPair[] | undefined {
  const named = new Set(prefixes.map(formatPrefix));
  if (change === 'remove') {
    const rest = present.filter(({ prefix }) => !named.has(formatPrefix(prefix)));
    return rest.length === present.length ? undefined : rest;
  }
  for (const { prefix } of present) named.delete(formatPrefix(prefix));
  if (named.size === 0) return undefined;
  const added = prefixes.filter((prefix) => named.delete(formatPrefix(prefix)));
  return [...present, ...added.map((prefix) => ({ prefix }))];
}

/**
 * Why the port can still use one of these addresses after Causeway has removed its own pairs; undefined if it
 * can't.
 */
export function whatLetsThrough(port: Port, addresses: Iterable<Address>): string | undefined {
  if (!port.portSecurityEnabled) return 'port security is off on its port';
  for (const address of addresses) {
    const pair = port.allowedAddressPairs.find(({ prefix }) => prefixContains(prefix, address));
    if (pair === undefined) continue;
    return `the address pair ${formatPrefix(pair.prefix)} on its port, which Causeway did not add, covers ${address}`;
  }
  return undefined;
}

/** Checks whether a gateway's port can have the necessary pairs, and explains the mode. */
export function examine(
  gateway: string,
  portId: string | undefined,
  port: Port | undefined,
  rules: PairRules,
): AddressPairReport {
  const say = (isFine: boolean, text: string): AddressPairReport => ({ gateway, isFine, text });
  if (portId === undefined) {
    return say(
      false,
      "its Neutron port is not named, so Causeway can neither let it use addresses nor take them from it. Set `port` beside the agent's name, unless you manage its address pairs yourself.",
    );
  }
  if (port === undefined) {
    return say(
      false,
      `its Neutron port ${portId} does not exist. Correct \`port\` in the settings.`,
    );
  }
  if (!port.portSecurityEnabled) {
    return say(
      true,
      'port security is off on its port: it can use every address and needs no address pairs, but Neutron can not fence it either.',
    );
  }
  const needed = rules.mode === 'network' ? rules.networks.length : 1;
  const own = rules.mode === 'network' ? rules.networks.map(formatPrefix) : [];
  const foreign = port.allowedAddressPairs.filter(
    ({ prefix }) => !own.includes(formatPrefix(prefix)),
  );
  const free = rules.limit - foreign.length;
  if (free < needed) {
    return say(
      false,
      `its port has ${foreign.length} address pairs of others and Neutron takes ${rules.limit}: there is no room. Remove some, or raise max_allowed_address_pair and gateway.addressPairs.limit.`,
    );
  }
  if (rules.mode === 'network') {
    return say(
      true,
      `one address pair for each network (${own.join(', ')}), because Neutron takes no more than ${rules.limit} pairs on a port and there may be more addresses than that.`,
    );
  }
  return say(
    true,
    `one address pair for each address, so that single ones can be taken from it; at most ${rules.limit} in all, because Neutron takes no more on a port. For more addresses set gateway.addressPairs.mode to network.`,
  );
}
