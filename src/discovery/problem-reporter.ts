import type { EventContent } from '../kube/event-recorder.ts';
import type { ObjectReference } from '../kube/object.ts';
import type { Problem } from './problem.ts';

export type Tell = (about: ObjectReference, content: EventContent) => void;

/** Turns problems into Events: once when they appear, not again while they last. */
export class ProblemReporter {
  readonly #tell: Tell;
  #last = new Set<string>();
  #now = new Set<string>();

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  report(about: ObjectReference, { severity, reason, message }: Problem): void {
    const key = [about.kind, about.namespace, about.name, reason, message].join('\n');
    const isNew = !this.#last.has(key) && !this.#now.has(key);
    this.#now.add(key);
    if (!isNew) return;
    this.#tell(about, { type: severity === 'note' ? 'Normal' : 'Warning', reason, message });
  }

  /** What was not reported since the last call is over; if it comes back, it is news again. */
  endCycle(): void {
    this.#last = this.#now;
    this.#now = new Set();
  }
}
