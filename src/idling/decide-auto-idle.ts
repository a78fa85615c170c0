import { parseDuration } from '../domain/duration.ts';
import { CausewayError } from '../domain/error.ts';
import type { ActivityReport } from './activity-report.ts';

export interface AutoIdleInput {
  /** `namespace/name`. */
  readonly service: string;
  /** The value of the annotation. */
  readonly idleAfter: string;
  readonly isAsleep: boolean;
  /** Every node of the cluster: any of them may carry connections. */
  readonly nodes: readonly string[];
  /** What nodes have said lately, by node. */
  readonly reports: ReadonlyMap<string, ActivityReport>;
}

export type AutoIdleDecision =
  | { readonly kind: 'idle'; readonly quietSeconds: number }
  | { readonly kind: 'stay'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly reason: string };

const stay = (reason: string): AutoIdleDecision => ({ kind: 'stay', reason });

/** Whether a Service has been quiet for long enough, everywhere. Who is not heard of may be using it. */
export function decideAutoIdle(input: AutoIdleInput): AutoIdleDecision {
  const { service, idleAfter, isAsleep, nodes, reports } = input;
  if (isAsleep) return stay('it sleeps already');
  let afterSeconds: number;
  try {
    afterSeconds = parseDuration(idleAfter) / 1000;
  } catch (error) {
    return { kind: 'invalid', reason: CausewayError.from(error).message };
  }
  if (nodes.length === 0) return stay('no node is known');
  let quietSeconds = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const quiet = reports.get(node)?.quietSeconds.get(service);
    if (quiet === undefined) return stay(`node ${node} has not reported lately`);
    quietSeconds = Math.min(quietSeconds, quiet);
  }
  if (quietSeconds < afterSeconds) return stay(`someone was connected ${quietSeconds} s ago`);
  return { kind: 'idle', quietSeconds };
}
