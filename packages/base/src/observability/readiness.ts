/** Returns undefined if ready, else the reason for operators. */
export type ReadinessCheck = () => string | undefined;

/** The checks that must pass before a process is ready. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  /** Every check with its result, in the order of addition. */
  report(): { readonly name: string; readonly problem: string | undefined }[] {
    return [...this.#checks].map(([name, check]) => ({ name, problem: check() }));
  }
}
