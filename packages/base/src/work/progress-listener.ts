/** Receives the progress of long work. The work does not depend on whether a listener displays it. */
export interface ProgressListener {
  /** A part with this number of items begins. */
  begin(what: string, total: number): void;
  /** One item is done. */
  step(name: string): void;
}

export const nobodyListens: ProgressListener = { begin() {}, step() {} };
