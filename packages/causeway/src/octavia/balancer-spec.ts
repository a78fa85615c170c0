import type { ListenerTreeSpec, LoadBalancerSpec } from '@causeway/openstack/load-balancing/specs';
import { listenerSpec } from './apply-plan.ts';
import type { WantedBalancer, WantedListener } from './desired.ts';

/** The request that creates a load balancer, with or without children. */
export function balancerSpec(
  wanted: WantedBalancer,
  marks: { readonly description: string; readonly tags: readonly string[] },
  isWhole: boolean,
): LoadBalancerSpec {
  const { projectId, subnetId, networkId, portId, address, provider, flavorId, availabilityZone } =
    wanted;
  return {
    name: wanted.name,
    description: marks.description,
    ...(marks.tags.length === 0 ? {} : { tags: marks.tags }),
    ...(projectId === undefined ? {} : { projectId }),
    ...vip(portId, subnetId, networkId),
    ...(address === undefined || portId !== undefined ? {} : { vipAddress: address }),
    ...(wanted.additionalVips.length === 0 ? {} : { additionalVips: wanted.additionalVips }),
    ...(wanted.securityGroupIds.length === 0
      ? {}
      : { vipSecurityGroupIds: wanted.securityGroupIds }),
    ...(provider === undefined ? {} : { provider }),
    ...(flavorId === undefined ? {} : { flavorId }),
    ...(availabilityZone === undefined ? {} : { availabilityZone }),
    ...(isWhole ? { listeners: wanted.listeners.map(listenerTree) } : {}),
  };
}

function vip(
  portId: string | undefined,
  subnetId: string | undefined,
  networkId: string | undefined,
) {
  if (portId !== undefined) return { vipPortId: portId };
  if (subnetId !== undefined) return { vipSubnetId: subnetId };
  return networkId === undefined ? {} : { vipNetworkId: networkId };
}

function listenerTree(listener: WantedListener): ListenerTreeSpec {
  const { name, protocol, algorithm, persistence, members, monitor } = listener.pool;
  return {
    ...listenerSpec(listener),
    defaultPool: {
      name,
      protocol,
      algorithm,
      ...(persistence === null ? {} : { sessionPersistence: persistence }),
      members,
      ...(monitor === undefined ? {} : { healthMonitor: monitor }),
    },
  };
}
