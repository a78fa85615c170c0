import type { Address } from '@causeway/base/address/address';
import { announcerKind } from './announce/kinds.ts';
import type { ServableAddresses } from './apply/servable.ts';
import type { AgentSettings } from './settings.ts';

/** The addresses that a gateway with these settings can hold. */
export function servableHere(settings: AgentSettings): ServableAddresses {
  const { families, taken } = announcerKind(settings).servable(settings);
  const listening: [Address, string][] = [
    [settings.listen.address, 'the listen address of the agent'],
    [settings.metrics.address, 'the listen address of the agent'],
  ];
  const isOneOfSeveral = settings.addresses.groups === 'several';
  return { families, taken: new Map([...listening, ...taken]), isOneOfSeveral };
}
