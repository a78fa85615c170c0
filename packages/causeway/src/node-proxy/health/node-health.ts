import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { TextAnswer } from '@causeway/base/http/http-server';

/** Input of the health checks. */
export interface NodeHealth {
  /**
   * Last time that the rules were up to date, in milliseconds since 1970; undefined before the first time.
   */
  readonly lastDone: number | undefined;
  /** How long a change has been waiting to be written. */
  readonly waitingMs: number;
  readonly node: Node | undefined;
}

/** The cluster autoscaler is about to remove the node. */
const leavingTaint = 'ToBeDeletedByClusterAutoscaler';

/** Rules are written, and no change has waited for too long. */
export function isWorking({ lastDone, waitingMs }: NodeHealth, patienceMs: number): boolean {
  return lastDone !== undefined && waitingMs <= patienceMs;
}

/** A node that is about to be removed should get no new connections from load balancers. */
export function isEligible(node: Node | undefined): boolean {
  if (node === undefined) return true;
  if (node.metadata?.deletionTimestamp !== undefined) return false;
  return !(node.spec?.taints ?? []).some(({ key }) => key === leavingTaint);
}

/**
 * `/healthz` reports to load balancers whether to send connections here, `/livez` to the kubelet whether this
 * process works. The fields are kube-proxy's.
 */
export function answerHealth(
  path: string,
  health: NodeHealth,
  patienceMs: number,
  now: number,
): TextAnswer {
  const isAlive = isWorking(health, patienceMs);
  // As in kube-proxy: while healthy, the rules are up to date as of now.
  const lastUpdated = isAlive ? now : (health.lastDone ?? 0);
  const times = { lastUpdated: timeText(lastUpdated), currentTime: timeText(now) };
  switch (path) {
    case '/healthz': {
      const nodeEligible = isEligible(health.node);
      return json(isAlive && nodeEligible ? 200 : 503, { ...times, nodeEligible });
    }
    case '/livez':
      return json(isAlive ? 200 : 503, times);
    default:
      return { status: 404, body: 'not found: try /healthz or /livez\n' };
  }
}

export function json(status: number, value: unknown): TextAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
