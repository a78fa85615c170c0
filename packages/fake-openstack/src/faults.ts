import type { ServiceName } from './http/call.ts';

/** Effect of a fault. */
export type FaultEffect =
  /** Closes the connection, either before the service handles the request or after it took effect. */
  | { readonly kind: 'drop'; readonly when: 'before-commit' | 'after-commit' }
  /** The service returns this answer and does nothing. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterSeconds?: number;
      readonly text?: string;
    }
  /** The request takes effect, but the answer has another status, like that of a proxy after a timeout. */
  | { readonly kind: 'lie'; readonly status: number }
  | { readonly kind: 'delay'; readonly milliseconds: number };

export interface Fault {
  readonly service?: ServiceName;
  readonly method?: string;
  /** Matched against the path without its query. */
  readonly path?: RegExp;
  readonly effect: FaultEffect;
  /** Number of affected requests. Default: all. */
  readonly times?: number;
  /** Number of matching requests to skip first. */
  readonly after?: number;
}

export interface RequestLine {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
}

/** The faults of one cloud. Tests can add faults while the cloud runs. */
export class Faults {
  private readonly planned = new Set<{ fault: Fault; pass: number; left: number }>();
  /** Latency of every answer. */
  latencyMs = 0;

  /** Returns a function that removes the fault. */
  add(fault: Fault): () => void {
    const plan = { fault, pass: fault.after ?? 0, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.planned.add(plan);
    return () => void this.planned.delete(plan);
  }

  clear(): void {
    this.planned.clear();
    this.latencyMs = 0;
  }

  /** Returns the effects on this request and updates the counters of the faults. */
  take(line: RequestLine): FaultEffect[] {
    const effects: FaultEffect[] = [];
    for (const plan of this.planned) {
      if (!matches(plan.fault, line)) continue;
      if (plan.pass > 0) {
        plan.pass -= 1;
        continue;
      }
      plan.left -= 1;
      if (plan.left <= 0) this.planned.delete(plan);
      effects.push(plan.fault.effect);
    }
    return effects;
  }
}

function matches(fault: Fault, line: RequestLine): boolean {
  return (
    (fault.service === undefined || fault.service === line.service) &&
    (fault.method === undefined || fault.method === line.method) &&
    (fault.path === undefined || fault.path.test(line.path))
  );
}
