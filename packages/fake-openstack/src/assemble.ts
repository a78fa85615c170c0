import type { Keystone } from './keystone/api.ts';
import { createKeystone } from './keystone/keystone.ts';
import { addLbaasV2Routes } from './lbaas-v2/lbaas-v2.ts';
import type { NeutronApi } from './neutron/api.ts';
import { createNeutron } from './neutron/neutron.ts';
import { NeutronState } from './neutron/state.ts';
import type { OctaviaApi } from './octavia/api.ts';
import { createOctavia } from './octavia/octavia.ts';
import { Provisioning } from './octavia/provisioning.ts';
import { OctaviaState } from './octavia/state.ts';
import { seedIdentity, seedNetworks } from './seed.ts';
import type { Settings } from './settings.ts';

export interface Services {
  readonly keystone: Keystone;
  readonly neutron: NeutronState;
  readonly networking: NeutronApi;
  readonly octavia: OctaviaApi;
}

/** The three services with their initial users and networks, without HTTP servers. */
export function assemble(settings: Settings): Services {
  const { clock, region, tokenLifetimeMs } = settings;
  const keystone = createKeystone({ clock, region, tokenLifetimeMs });
  const { admin, demo, service } = seedIdentity(keystone);
  const neutron = new NeutronState(clock, {
    defaultQuotas: settings.neutronQuotas,
    maxAddressPairs: settings.maxAddressPairs,
  });
  seedNetworks(neutron, demo, admin);
  const state = new OctaviaState(clock, settings.octaviaQuotas);
  const octavia = createOctavia({
    keystone,
    neutron,
    state,
    provisioning: new Provisioning(state, clock, {
      delayMs: settings.provisioningDelayMs,
      populatedCreateDefect: settings.populatedCreateDefect,
    }),
    offerings: settings.offerings,
    serviceProjectId: service.id,
    maxPage: settings.pageSize ?? 1000,
    minorVersion: settings.octaviaMinorVersion,
  });
  const isMitaka = settings.loadBalancing === 'lbaas-v2';
  const networking = createNeutron(keystone, neutron, {
    maxPage: settings.pageSize,
    extensions: isMitaka ? ['lbaasv2'] : [],
  });
  if (isMitaka) addLbaasV2Routes(networking, octavia);
  return { keystone, neutron, networking, octavia };
}
