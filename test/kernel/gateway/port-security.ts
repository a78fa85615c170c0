import type { Family } from '../../../packages/base/src/address/address.ts';
import {
  formatPrefix,
  prefixFamily,
  type Prefix,
} from '../../../packages/base/src/address/prefix.ts';
import type { TestNetwork } from './network.ts';
import { externalAddressesOf, type GatewayName } from './topology.ts';

/** Addresses that each gateway's own port lets it use: its own addresses, and those of its address pairs. */
export type Allowed = ReadonlyMap<GatewayName, readonly Prefix[]>;

/**
 * Port security as in a cloud: between a gateway and the external network, only packets with addresses of the
 * gateway's own port pass. Fences rely on this.
 */
export class PortSecurity {
  readonly #network: TestNetwork;
  #obeyed = '';

  constructor(network: TestNetwork) {
    this.#network = network;
  }

  async obey(allowed: Allowed): Promise<void> {
    const rules = securityRules(allowed);
    if (rules === this.#obeyed) return;
    await this.#network.run('switch', ['nft', '-f', '-'], rules);
    this.#obeyed = rules;
  }
}

/** Replaces everything in one transaction. */
export function securityRules(allowed: Allowed): string {
  const names = [...allowed.keys()];
  return [
    'table bridge security',
    'delete table bridge security',
    'table bridge security {',
    ...names.flatMap((name) => [
      `set ${name}-4 { type ipv4_addr; flags interval; auto-merge; ${elements(allowed, name, 4)} }`,
      `set ${name}-6 { type ipv6_addr; flags interval; auto-merge; ${elements(allowed, name, 6)} }`,
    ]),
    'chain forward { type filter hook forward priority 0;',
    ...names.flatMap((name) => [
      `iifname "${name}-ext" arp saddr ip != @${name}-4 drop`,
      `iifname "${name}-ext" ip saddr != @${name}-4 drop`,
      `iifname "${name}-ext" ip6 saddr != { ::, fe80::/10 } ip6 saddr != @${name}-6 drop`,
      `oifname "${name}-ext" ip daddr != { 224.0.0.0/4, 255.255.255.255 } ip daddr != @${name}-4 drop`,
      `oifname "${name}-ext" ip6 daddr != { fe80::/10, ff00::/8 } ip6 daddr != @${name}-6 drop`,
    ]),
    '}',
    '}\n',
  ].join('\n');
}

function elements(allowed: Allowed, name: GatewayName, family: Family): string {
  const prefixes = (allowed.get(name) ?? []).filter((prefix) => prefixFamily(prefix) === family);
  return prefixes.length === 0 ? '' : `elements = { ${prefixes.map(formatPrefix).join(', ')} };`;
}

/** The gateways that may only use their own addresses. */
export function fencedGateways(allowed: Allowed): GatewayName[] {
  return [...allowed].flatMap(([name, prefixes]) => {
    const own: string[] = Object.values(externalAddressesOf(name));
    const isFenced = prefixes.every(({ address }) => own.includes(address));
    return isFenced ? [name] : [];
  });
}
