import type { Address } from '@causeway/base/address/address';
import type { ServableAddresses } from './apply/servable.ts';
import { keepalivedSettings, type KeepalivedSettings } from './announce/keepalived/settings.ts';
import type { AgentSettings } from './settings.ts';

/**
 * The addresses that a gateway with these settings can hold. If another system moves the addresses, all
 * families are allowed.
 */
export function servableHere(settings: AgentSettings): ServableAddresses {
  const isOurs = settings.addresses.mover === 'keepalived';
  const taken = new Map<Address, string>([
    [settings.listen.address, 'the listen address of the agent'],
    [settings.metrics.address, 'the listen address of the agent'],
  ]);
  const isOneOfSeveral = settings.addresses.groups === 'several';
  if (!isOurs) return { families: new Set([4, 6]), taken, isOneOfSeveral };
  const ours = servableByKeepalived(keepalivedSettings(settings));
  return { families: ours.families, taken: new Map([...taken, ...ours.taken]), isOneOfSeveral };
}

/** The addresses that keepalived can announce with these settings. */
function servableByKeepalived({ networks }: KeepalivedSettings): ServableAddresses {
  const taken = new Map<Address, string>();
  for (const { name, families } of networks) {
    for (const { source, peers, anchor, routes } of families) {
      taken.set(source, `this gateway's own in the ${name} network`);
      for (const peer of peers) taken.set(peer, `another gateway's own in the ${name} network`);
      taken.set(anchor, 'the address in VRRP adverts');
      for (const route of routes) taken.set(route, 'a route that moves with the gateway');
    }
  }
  const external = networks.find(({ name }) => name === 'external');
  return { families: new Set(external?.families.map(({ family }) => family)), taken };
}
