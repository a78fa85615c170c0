import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import type { Batch } from './ledger.ts';

/** So many batches back a watch may begin; earlier ones have to load. */
const remembered = 4096;

/** The last changes of a ledger that lives in this process, for those that follow it. */
export class RecentBatches {
  #batches: Batch[] = [];
  /** The revision before the first remembered batch. */
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
    if (this.#batches.length > remembered * 2) {
      const forgotten = this.#batches.splice(0, remembered);
      this.#floor = forgotten.at(-1)?.revision ?? this.#floor;
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
        throw new CausewayError('gone', `revision ${position} is too long ago to follow from`);
      }
      // Revisions are consecutive, so the place of a batch is known.
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
