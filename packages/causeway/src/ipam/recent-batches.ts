import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import type { Batch } from './ledger.ts';

/** Number of batches that are kept for watches; a watch from an earlier revision must load. */
const keptBatches = 4096;

/** The last changes of a ledger in this process, for its followers. */
export class RecentBatches {
  #batches: Batch[] = [];
  /** The revision before the first kept batch. */
  #floor = 0;
  #revision = 0;
  #ended: CausewayError | undefined;
  readonly #wakes = new Set<() => void>();

  get revision(): number {
    return this.#revision;
  }

  startAt(revision: number): void {
    this.#floor = revision;
    this.#revision = revision;
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#revision = batch.revision;
    if (this.#batches.length > keptBatches * 2) {
      const dropped = this.#batches.splice(0, keptBatches);
      this.#floor = dropped.at(-1)?.revision ?? this.#floor;
    }
    this.#wakeAll();
  }

  end(error: CausewayError): void {
    this.#ended ??= error;
    this.#wakeAll();
  }

  async *follow(
    prefix: string,
    afterRevision: number,
    signal: AbortSignal,
  ): AsyncGenerator<Batch, void> {
    for (let position = afterRevision; ; ) {
      if (this.#ended !== undefined) throw this.#ended;
      if (signal.aborted) throw abortedBy(signal);
      if (position < this.#floor) {
        throw new CausewayError('gone', `revision ${position} is too old to follow from`);
      }
      // Revisions are consecutive, so a batch's position follows from its revision.
      const newBatches = this.#batches.slice(position - this.#floor);
      for (const batch of newBatches) {
        position = batch.revision;
        yield {
          revision: batch.revision,
          changes: batch.changes.filter(({ key }) => key.startsWith(prefix)),
        };
      }
      if (newBatches.length === 0) await this.#woken(signal);
    }
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakes.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted || this.#ended !== undefined) wake();
    });
  }

  #wakeAll(): void {
    for (const wake of [...this.#wakes]) wake();
  }
}
