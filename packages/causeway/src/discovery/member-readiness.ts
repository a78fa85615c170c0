import type { OperatingStatus } from '@causeway/openstack/load-balancing/resources';
import type { MemberView } from './project-tree.ts';

/**
 * The members that get new connections from a load balancer. Backup members are used only while no other is;
 * `isUp` is false if the pool, its listener or the load balancer is disabled.
 */
export function readyMembers(members: readonly MemberView[], isUp: boolean): Set<MemberView> {
  if (!isUp) return new Set();
  const able = members.filter(
    ({ adminStateUp, weight, operatingStatus }) =>
      adminStateUp && weight > 0 && serves(operatingStatus),
  );
  const primary = able.filter(({ backup }) => !backup);
  return new Set(primary.length > 0 ? primary : able);
}

function serves(status: OperatingStatus): boolean {
  switch (status) {
    case 'ONLINE':
    case 'NO_MONITOR':
    case 'DEGRADED':
    // LBaaS v2 does not report it in its lists.
    case 'UNKNOWN':
      return true;
    case 'OFFLINE':
    case 'ERROR':
    case 'DISABLED':
    case 'DRAINING':
      return false;
  }
}
