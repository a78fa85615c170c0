import fs from 'node:fs/promises';

/** The generation in the kernel since boot; `unknown` if it can't be read, undefined if there is none. */
export type AppliedGeneration = number | 'unknown' | undefined;

/**
 * A file that is lost at a reboot, like the rules in the kernel. It has the newest acknowledged generation.
 * An agent that starts with an older one on disk knows that it lost steps.
 */
export class AppliedMark {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<AppliedGeneration> {
    try {
      const text = await fs.readFile(this.#file, 'utf8');
      return /^\d{1,16}$/.test(text) ? Number(text) : 'unknown';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unknown';
    }
  }

  async write(generation: AppliedGeneration): Promise<void> {
    await fs.writeFile(this.#file, String(generation ?? 'unknown'), { mode: 0o600 });
  }
}

/** Why the kernel may have a newer configuration than the disk; undefined if it has none. */
export function whyInDoubt(
  damage: string | undefined,
  applied: AppliedGeneration,
  stored: number,
): string | undefined {
  if (damage !== undefined) return damage;
  if (applied === undefined) return undefined;
  if (applied === 'unknown') return `the applied generation is unknown, and ${stored} is stored`;
  return applied > stored
    ? `generation ${applied} was applied, but ${stored} is the newest stored one`
    : undefined;
}
