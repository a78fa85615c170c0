/** Returns undefined if ready, else the reason for operators. */
export type ReadinessCheck = () => string | undefined;

/** The result of one check. */
export interface ReadinessResult {
  readonly name: string;
  readonly problem: string | undefined;
  /** A problem that leaves the process ready for a part of its work. */
  readonly isDegradation: boolean;
}

export interface ReadinessScope {
  add(name: string, check: ReadinessCheck): void;
  clear(): void;
}

/** The checks that must pass before a process is ready. */
export class Readiness {
  readonly #checks = new Map<string, { check: ReadinessCheck; isDegradation: boolean }>();

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, { check, isDegradation: false });
  }

  /**
   * Adds a check for a problem that all replicas share, such as a full store behind them. A replica that
   * reports it stays ready: without any ready replica, clients would not even get the error that names it.
   */
  addDegradation(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, { check, isDegradation: true });
  }

  /** Checks of a part that may end before the process. `clear` removes them. */
  scope(): ReadinessScope {
    const names = new Set<string>();
    return {
      add: (name, check) => {
        names.add(name);
        this.add(name, check);
      },
      clear: () => {
        for (const name of names) this.#checks.delete(name);
      },
    };
  }

  /** Every check with its result, in the order of addition. */
  report(): ReadinessResult[] {
    return [...this.#checks].map(([name, { check, isDegradation }]) => ({
      name,
      problem: check(),
      isDegradation,
    }));
  }
}
