/** Undefined when ready, else the reason, as an operator would want to read it. */
export type ReadinessCheck = () => string | undefined;

/** What must hold before a process calls itself ready. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  /** Every check with its answer, in the order they were added. */
  report(): { readonly name: string; readonly problem: string | undefined }[] {
    return [...this.#checks].map(([name, check]) => ({ name, problem: check() }));
  }
}
