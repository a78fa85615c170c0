import type { ServiceName } from './http/call.ts';

/** What goes wrong. */
export type FaultEffect =
  /** The connection is cut, before the service looks at the request or after it has done the work. */
  | { readonly kind: 'drop'; readonly when: 'before-commit' | 'after-commit' }
  /** The service answers with this and does nothing. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterSeconds?: number;
      readonly text?: string;
    }
  /** The work is done, and the answer says otherwise: a gateway that gave up waiting. */
  | { readonly kind: 'lie'; readonly status: number }
  | { readonly kind: 'delay'; readonly milliseconds: number };

export interface Fault {
  readonly service?: ServiceName;
  readonly method?: string;
  /** Matched against the path without the query. */
  readonly path?: RegExp;
  readonly effect: FaultEffect;
  /** How many requests it hits; all of them if left out. */
  readonly times?: number;
  /** How many matching requests pass unharmed first. */
  readonly after?: number;
}

export interface RequestLine {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
}

/** The faults of one cloud. Tests add them while the cloud runs. */
export class Faults {
  private readonly planned = new Set<{ fault: Fault; pass: number; left: number }>();
  /** Every answer takes this long. */
  latencyMs = 0;

  /** Answers with a function that takes the fault away again. */
  add(fault: Fault): () => void {
    const plan = { fault, pass: fault.after ?? 0, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.planned.add(plan);
    return () => void this.planned.delete(plan);
  }

  clear(): void {
    this.planned.clear();
    this.latencyMs = 0;
  }

  /** The effects on this request, counted off. */
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
