import type { Keystone } from '../keystone/api.ts';
import { NeutronApi } from './api.ts';
import { addExtensionRoutes } from './extensions.ts';
import { floatingIpResource } from './floating-ips.ts';
import { networkResource } from './networks.ts';
import { portResource } from './ports.ts';
import { addQuotaRoutes } from './quotas.ts';
import { addResourceRoutes } from './resource-routes.ts';
import { addRouterInterfaceRoutes, routerResource } from './routers.ts';
import { securityGroupResource, securityGroupRuleResource } from './security-groups.ts';
import type { NeutronState } from './state.ts';
import { subnetResource } from './subnets.ts';

export interface NeutronOptions {
  readonly maxPage: number | undefined;
  /** Additional extensions to list. */
  readonly extensions: readonly string[];
}

export function createNeutron(
  keystone: Keystone,
  state: NeutronState,
  options: NeutronOptions,
): NeutronApi {
  const api = new NeutronApi(keystone, state, options.maxPage);
  const ports = portResource(state);
  addResourceRoutes(api, networkResource(state));
  addResourceRoutes(api, subnetResource(state));
  addResourceRoutes(api, ports);
  addResourceRoutes(api, floatingIpResource(state, ports.isVisible));
  addResourceRoutes(api, routerResource(state));
  addResourceRoutes(api, securityGroupResource(state));
  addResourceRoutes(api, securityGroupRuleResource(state));
  addRouterInterfaceRoutes(api);
  addQuotaRoutes(api);
  addExtensionRoutes(api, options.extensions);
  return api;
}
