import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ActivityReport } from './activity-report.ts';

export interface DatedReport extends ActivityReport {
  /** A time at which it was not yet written, by our monotonic clock. */
  readonly writtenAfter: number;
}

export interface AutoIdleInput {
  /** `namespace/name`. */
  readonly service: string;
  /** The value of the annotation. */
  readonly idleAfter: string;
  /** Gateways lead straight to its pods: nodes do not see these connections. */
  readonly isPastNodes: boolean;
  /** Since when we know it without the mark, by our monotonic clock; undefined while it sleeps. */
  readonly awakeSince: number | undefined;
  /** Every node of the cluster: any of them may carry connections. */
  readonly nodes: readonly string[];
  /** What nodes have said lately, by node. */
  readonly reports: ReadonlyMap<string, DatedReport>;
}

export type AutoIdleDecision =
  | { readonly kind: 'idle'; readonly quietSeconds: number }
  | { readonly kind: 'stay'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly reason: string };

const stay = (reason: string): AutoIdleDecision => ({ kind: 'stay', reason });

/**
 * Whether a Service has been quiet for long enough, everywhere. Who is not heard of may be using it. Only
 * the time since it woke counts: a report from before speaks of its sleep.
 */
export function decideAutoIdle(input: AutoIdleInput): AutoIdleDecision {
  const { service, idleAfter, isPastNodes, awakeSince, nodes, reports } = input;
  if (awakeSince === undefined) return stay('it sleeps already');
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
    const reason = 'gateways lead straight to its pods, so nodes do not see who is connected';
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
      return stay(`node ${node} has not reported since it woke`);
    const awakeSeconds = Math.floor((report.writtenAfter - awakeSince) / 1000);
    quietSeconds = Math.min(quietSeconds, quiet, awakeSeconds);
  }
  if (quietSeconds < afterSeconds) return stay(`it has been quiet for ${quietSeconds} s only`);
  return { kind: 'idle', quietSeconds };
}
