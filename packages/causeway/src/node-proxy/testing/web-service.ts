import type { Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Ruleset } from '@causeway/nftables/model/ruleset';
import { makeService, makeSlice, type SliceParts } from './objects.ts';
import { nodeAddress, rulesOf, type TracedOptions } from './traced-node.ts';

/** The cluster address of the Service. */
export const clusterIp = '10.96.0.1';
export const external = '198.51.100.1';
export const balancer = '198.51.100.2';

/** `shop/web` with every kind of address. */
export function webService(spec: ServiceSpec = {}, status?: Service['status']): Service {
  return makeService({
    spec: {
      type: 'LoadBalancer',
      externalIPs: [external],
      ports: [{ port: 80, nodePort: 30_080 }],
      ...spec,
    },
    status: status ?? { loadBalancer: { ingress: [{ ip: balancer }] } },
  });
}

/** A node's rules for the Service. */
export function web(
  spec: ServiceSpec,
  slice: SliceParts,
  more: Partial<TracedOptions> = {},
): Ruleset {
  return rulesOf({ services: [webService(spec)], slices: [makeSlice(slice)], ...more });
}

/** Every address of the Service. */
export const addresses = [
  ['the cluster address', clusterIp, 80],
  ['an external address', external, 80],
  ['a load balancer address', balancer, 80],
  ['a node port', nodeAddress, 30_080],
] as const;
