import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import type { ObjectReference } from '@causeway/kubernetes/objects/object';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Problem } from './problem.ts';

/** Returns whether the Event was accepted and not dropped. */
export type RecordEvent = (about: ObjectReference, content: EventContent) => boolean;

/** Kubernetes deletes Events after an hour; a problem that lasts longer must stay visible. */
const againAfterMs = 30 * 60_000;

/** Records problems as Events: when they appear, and again while they last. Notes are recorded once. */
export class ProblemReporter {
  readonly #recordEvent: RecordEvent;
  readonly #clock: Clock;
  readonly #log: Log;
  /** When each Event was last recorded. */
  #last = new Map<string, number>();
  #now = new Map<string, number>();

  constructor(recordEvent: RecordEvent, clock: Clock, log: Log) {
    this.#recordEvent = recordEvent;
    this.#clock = clock;
    this.#log = log;
  }

  report(about: ObjectReference, { severity, reason, message }: Problem): void {
    const { kind, namespace, name } = about;
    const key = [kind, namespace, name, reason, message].join('\n');
    const now = this.#clock.monotonic();
    const recordedAt = this.#now.get(key) ?? this.#last.get(key);
    const isNote = severity === 'note';
    if (recordedAt !== undefined && (isNote || now - recordedAt < againAfterMs)) {
      this.#now.set(key, recordedAt);
      return;
    }
    const isRecorded = this.#recordEvent(about, {
      reason,
      message,
    });
    if (!isRecorded) return;
    this.#now.set(key, now);
    if (!isNote) this.#log.info({ kind, namespace, name, reason }, message);
  }

  /**
   * Problems that were not reported since the last call are over; if they return, they are recorded again.
   */
  endCycle(): void {
    this.#last = this.#now;
    this.#now = new Map();
  }
}
