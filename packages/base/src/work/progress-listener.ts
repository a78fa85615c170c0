/** Hears how far a long piece of work is. Who works need not know whether anybody looks. */
export interface ProgressListener {
  /** A part begins, of so many things. */
  begin(what: string, total: number): void;
  /** One of them is done. */
  step(name: string): void;
}

export const nobodyListens: ProgressListener = { begin() {}, step() {} };
