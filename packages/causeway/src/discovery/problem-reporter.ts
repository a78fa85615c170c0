import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import type { ObjectReference } from '@causeway/kubernetes/objects/object';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Problem } from './problem.ts';

/** Answers whether it was taken: what was dropped is not told. */
export type Tell = (about: ObjectReference, content: EventContent) => boolean;

/** Kubernetes forgets Events after an hour; what is still wrong by then should be seen. */
const againAfterMs = 30 * 60_000;

/** Turns problems into Events: when they appear, and again while they last, notes only once. */
export class ProblemReporter {
  readonly #tell: Tell;
  readonly #clock: Clock;
  readonly #log: Log;
  /** When each was told last. */
  #last = new Map<string, number>();
  #now = new Map<string, number>();

  constructor(tell: Tell, clock: Clock, log: Log) {
    this.#tell = tell;
    this.#clock = clock;
    this.#log = log;
  }

  report(about: ObjectReference, { severity, reason, message }: Problem): void {
    const { kind, namespace, name } = about;
    const key = [kind, namespace, name, reason, message].join('\n');
    const now = this.#clock.monotonic();
    const toldAt = this.#now.get(key) ?? this.#last.get(key);
    const isNote = severity === 'note';
    if (toldAt !== undefined && (isNote || now - toldAt < againAfterMs)) {
      this.#now.set(key, toldAt);
      return;
    }
    const isTold = this.#tell(about, { type: isNote ? 'Normal' : 'Warning', reason, message });
    if (!isTold) return;
    this.#now.set(key, now);
    if (!isNote) this.#log.info({ kind, namespace, name, reason }, message);
  }

  /** What was not reported since the last call is over; if it comes back, it is news again. */
  endCycle(): void {
    this.#last = this.#now;
    this.#now = new Map();
  }
}
