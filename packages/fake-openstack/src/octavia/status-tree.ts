import type { LoadBalancerRow, OctaviaRow, PoolRow } from './rows.ts';
import type { OctaviaState } from './state.ts';
import type { View } from './views.ts';

/** Every status below a load balancer in one answer, without pools that no listener uses. */
export function statusTree(state: OctaviaState, loadBalancer: LoadBalancerRow): View {
  return {
    ...statuses(loadBalancer),
    listeners: state.listenersOf(loadBalancer.id).map((listener) => {
      const pool = state.pools.get(listener.default_pool_id ?? '');
      return {
        ...statuses(listener),
        pools: pool === undefined ? [] : [poolStatuses(state, pool)],
      };
    }),
  };
}

function poolStatuses(state: OctaviaState, pool: PoolRow): View {
  const monitor = state.monitorOf(pool.id);
  return {
    ...statuses(pool),
    ...(monitor === undefined
      ? {}
      : { health_monitor: { ...statuses(monitor), type: monitor.type } }),
    members: state.membersOf(pool.id).map((member) => ({
      ...statuses(member),
      address: member.address,
      protocol_port: member.protocol_port,
    })),
  };
}

function statuses({ id, name, operating_status, provisioning_status }: OctaviaRow): View {
  return { id, name, operating_status, provisioning_status };
}
