import type { NeutronApi } from '../neutron/api.ts';
import type { OctaviaApi } from '../octavia/api.ts';
import { addListenerRoutes, addPoolRoutes } from './listeners-and-pools.ts';
import { addLoadBalancerRoutes } from './load-balancers.ts';
import { addHealthMonitorRoutes, addMemberRoutes } from './members-and-monitors.ts';

/** The load balancing API of Mitaka: the Octavia implementation behind Neutron's paths and messages. */
export function addLbaasV2Routes(api: NeutronApi, octavia: OctaviaApi): void {
  addLoadBalancerRoutes(api, octavia);
  addListenerRoutes(api, octavia);
  addPoolRoutes(api, octavia);
  addMemberRoutes(api, octavia);
  addHealthMonitorRoutes(api, octavia);
  api.route('GET', '/service-providers', () => ({
    status: 200,
    body: {
      service_providers: [{ service_type: 'LOADBALANCERV2', name: 'haproxy', default: true }],
    },
  }));
}
