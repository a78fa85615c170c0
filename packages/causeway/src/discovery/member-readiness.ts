import type { OperatingStatus } from '@causeway/openstack/load-balancing/resources';
import type { MemberView } from './project-tree.ts';

/**
 * Which members a load balancer would send new connections to. Backup members are used only while no
 * other is; `isUp` is false where the pool, its listener or the load balancer is switched off.
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
    // LBaaS v2 does not tell in its lists.
    case 'UNKNOWN':
      return true;
    case 'OFFLINE':
    case 'ERROR':
    case 'DISABLED':
    case 'DRAINING':
      return false;
  }
}
