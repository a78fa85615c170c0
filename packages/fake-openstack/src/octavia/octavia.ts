import { OctaviaApi, type OctaviaParts } from './api.ts';
import { addHealthMonitorRoutes } from './health-monitors.ts';
import { addListenerRoutes } from './listeners.ts';
import { addLoadBalancerRoutes } from './load-balancers.ts';
import { addMemberRoutes } from './members.ts';
import { addOfferingRoutes } from './offerings.ts';
import { addPoolRoutes } from './pools.ts';
import { addQuotaRoutes } from './quotas.ts';

export function createOctavia(parts: OctaviaParts): OctaviaApi {
  const api = new OctaviaApi(parts);
  addLoadBalancerRoutes(api);
  addListenerRoutes(api);
  addPoolRoutes(api);
  addMemberRoutes(api);
  addHealthMonitorRoutes(api);
  addOfferingRoutes(api);
  addQuotaRoutes(api);
  return api;
}
