import { EventEmitter } from 'node:events';
import type { DestinationStream } from 'pino';

/**
 * Drops lines that can't be written, for example on a full disk: a process must not end because of its log.
 * The first line after a gap is preceded by the number of lost lines.
 */
export class LossyDestination implements DestinationStream {
  readonly #target: DestinationStream;
  readonly #describeGap: (lost: number) => string;
  #lost = 0;

  constructor(target: DestinationStream, describeGap: (lost: number) => string) {
    this.#target = target;
    this.#describeGap = describeGap;
    // Pipes report their errors as events, and an event without a listener ends the process.
    if (target instanceof EventEmitter) target.on('error', () => (this.#lost += 1));
  }

  write(line: string): void {
    try {
      if (this.#lost > 0) this.#target.write(`${this.#describeGap(this.#lost)}\n`);
      this.#lost = 0;
      this.#target.write(line);
    } catch {
      this.#lost += 1;
    }
  }
}
