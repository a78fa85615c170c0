import type { Diversion } from './served-service.ts';
import type { Translation } from './translate-service.ts';

export interface CommitPart {
  readonly diversion: Diversion | undefined;
  readonly translation: Translation;
}

/** The content of one transaction. The inputs may change while it is being written. */
export class Commit {
  readonly services = new Map<string, CommitPart>();
  readonly #rivals = new Set<string>();

  addRivals(rivals: Iterable<string>): void {
    for (const rival of rivals) this.#rivals.add(rival);
  }

  /** Services that may have won or lost an address in the transaction. */
  touched(): Set<string> {
    return this.#rivals.union(new Set(this.services.keys()));
  }
}
