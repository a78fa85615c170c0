import type { Address } from '@causeway/base/address/address';
import type { ServableAddresses } from './apply/servable.ts';
import type { KeepalivedSettings } from './announce/keepalived/settings.ts';
import { keepalivedSettings, type AgentSettings } from './settings.ts';

/** What a gateway with these settings can hold. Where others move the addresses, they know about families. */
export function servableHere(settings: AgentSettings): ServableAddresses {
  const isOurs = settings.addresses.mover === 'keepalived';
  const taken = new Map<Address, string>([
    [settings.listen.address, 'where the agent listens'],
    [settings.metrics.address, 'where the agent listens'],
  ]);
  const isOneOfSeveral = settings.addresses.groups === 'several';
  if (!isOurs) return { families: new Set([4, 6]), taken, isOneOfSeveral };
  const ours = servableByKeepalived(keepalivedSettings(settings));
  return { families: ours.families, taken: new Map([...taken, ...ours.taken]), isOneOfSeveral };
}

/** What keepalived can announce with these settings. */
function servableByKeepalived({ networks }: KeepalivedSettings): ServableAddresses {
  const taken = new Map<Address, string>();
  for (const { name, families } of networks) {
    for (const { source, peers, anchor, routes } of families) {
      taken.set(source, `this gateway's own in the ${name} network`);
      for (const peer of peers) taken.set(peer, `another gateway's own in the ${name} network`);
      taken.set(anchor, 'what VRRP adverts name');
      for (const route of routes) taken.set(route, 'a route that moves with the gateway');
    }
  }
  const external = networks.find(({ name }) => name === 'external');
  return { families: new Set(external?.families.map(({ family }) => family)), taken };
}
