import type { LoadBalancerRow, OperatingStatus, PoolRow } from './rows.ts';
import type { OctaviaState } from './state.ts';

/** Sets the operating statuses of an ACTIVE load balancer, like the reports of its amphora. */
export function refreshHealth(state: OctaviaState, loadBalancer: LoadBalancerRow): void {
  if (loadBalancer.provisioning_status !== 'ACTIVE') return;
  let overall: OperatingStatus = 'ONLINE';
  for (const pool of state.poolsOf(loadBalancer.id)) {
    const status = refreshPool(state, pool);
    if (status === 'ERROR') overall = 'ERROR';
    else if (status === 'DEGRADED' && overall === 'ONLINE') overall = 'DEGRADED';
  }
  for (const listener of state.listenersOf(loadBalancer.id)) {
    const operating_status = listener.admin_state_up ? 'ONLINE' : 'OFFLINE';
    state.listeners.update(listener, { operating_status });
  }
  state.loadBalancers.update(loadBalancer, { operating_status: overall });
}

function refreshPool(state: OctaviaState, pool: PoolRow): OperatingStatus {
  const monitor = state.monitorOf(pool.id);
  const isMonitored = monitor?.admin_state_up === true;
  if (monitor !== undefined) {
    state.healthMonitors.update(monitor, {
      operating_status: monitor.admin_state_up ? 'ONLINE' : 'OFFLINE',
    });
  }
  const members = state.membersOf(pool.id);
  let down = 0;
  for (const member of members) {
    const isDown = state.membersDown.has(`${member.address}:${member.protocol_port}`);
    const operating_status = !isMonitored ? 'NO_MONITOR' : isDown ? 'ERROR' : 'ONLINE';
    if (operating_status === 'ERROR') down += 1;
    state.members.update(member, { operating_status });
  }
  const operating_status = down === 0 ? 'ONLINE' : down === members.length ? 'ERROR' : 'DEGRADED';
  state.pools.update(pool, { operating_status });
  return operating_status;
}
