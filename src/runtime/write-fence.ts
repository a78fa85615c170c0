/** Something that says how long we may still write; leadership is one. */
export interface WriteFence {
  /** Throws when we must not write any more; else the milliseconds for which we may. */
  remainingMs(): number;
}
