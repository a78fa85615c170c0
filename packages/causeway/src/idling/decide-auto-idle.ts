import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ActivityReport } from './activity-report.ts';

export interface DatedReport extends ActivityReport {
  /** A time before the report was written, by the controller's monotonic clock. */
  readonly writtenAfter: number;
}

export interface AutoIdleInput {
  /** `namespace/name`. */
  readonly service: string;
  /** The value of the annotation. */
  readonly idleAfter: string;
  /** Gateways send straight to the pods, so nodes do not see these connections. */
  readonly isPastNodes: boolean;
  /**
   * The time since which the Service is known to have no mark, by the monotonic clock; undefined while it is
   * idle.
   */
  readonly awakeSince: number | undefined;
  /** All nodes of the cluster. Each of them may carry connections. */
  readonly nodes: readonly string[];
  /** The recent reports, by node. */
  readonly reports: ReadonlyMap<string, DatedReport>;
}

export type AutoIdleDecision =
  | { readonly kind: 'idle'; readonly quietSeconds: number }
  | { readonly kind: 'stay'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly reason: string };

const stay = (reason: string): AutoIdleDecision => ({ kind: 'stay', reason });

/**
 * Decides whether a Service has been unused for long enough on all nodes. A node that does not report may
 * have connections. Only the time since the wake-up counts: an earlier report covers the idle period.
 */
export function decideAutoIdle(input: AutoIdleInput): AutoIdleDecision {
  const { service, idleAfter, isPastNodes, awakeSince, nodes, reports } = input;
  if (awakeSince === undefined) return stay('the Service is idle already');
  let afterSeconds: number;
  try {
    afterSeconds = parseDuration(idleAfter) / 1000;
  } catch (error) {
    return { kind: 'invalid', reason: CausewayError.from(error).message };
  }
  if (afterSeconds < 1) {
    return { kind: 'invalid', reason: `${JSON.stringify(idleAfter)} is shorter than a second` };
  }
  if (isPastNodes) {
    const reason =
      'gateways send straight to the pods of the Service, so nodes do not see the connections';
    return { kind: 'invalid', reason };
  }
  if (nodes.length === 0) return stay('no node is known');
  let quietSeconds = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const report = reports.get(node);
    const quiet = report?.quietSeconds.get(service);
    if (report === undefined || quiet === undefined) {
      return stay(`node ${node} has not reported lately`);
    }
    if (report.writtenAfter < awakeSince)
      return stay(`node ${node} has not reported since the Service woke`);
    const awakeSeconds = Math.floor((report.writtenAfter - awakeSince) / 1000);
    quietSeconds = Math.min(quietSeconds, quiet, awakeSeconds);
  }
  if (quietSeconds < afterSeconds)
    return stay(`the Service has been unused for ${quietSeconds} s only`);
  return { kind: 'idle', quietSeconds };
}
