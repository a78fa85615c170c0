import { isCutOff, isOutage } from '../../protocol/alarm.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';

type Judged = Pick<AgentStatus, 'alarms' | 'announcer' | 'drained' | 'sound' | 'unhealthy'>;

/**
 * Whether another gateway can serve in place of this one: it is active or standby, has no fault, and reaches
 * as many backends as this one. A gateway that is cut off in any family is no relief, so two gateways
 * that are cut off in different families do not yield to each other forever.
 */
export function hasRelief(own: Judged, others: Iterable<Judged>): boolean {
  for (const other of others) {
    const { role } = other.announcer;
    const takesPart = role === 'standby' || role === 'active';
    const isFaulty = other.alarms.some((alarm) => isOutage(alarm) || isCutOff(alarm));
    const isWilling = other.drained === null && other.sound;
    const hearsAsMany = other.unhealthy.heard > 0 && other.unhealthy.heard >= own.unhealthy.heard;
    if (takesPart && isWilling && !isFaulty && hearsAsMany) return true;
  }
  return false;
}
