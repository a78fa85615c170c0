import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { overrideRecord, type Override, type OverrideName } from '../protocol/override.ts';
import { loadSmallFile, storeSmallFile, type LoadedFile } from './store/small-file.ts';

const overridesFile = z.strictObject({
  frozen: overrideRecord.optional(),
  drained: overrideRecord.optional(),
});

/** Overrides that apply until they are cleared, including after restarts. */
type LastingOverrides = z.infer<typeof overridesFile>;

/**
 * An operator's decisions for this gateway. Two apply until they are cleared, including after restarts:
 * - `frozen`: no update is accepted
 * - `drained`: the gateway gives up its addresses and takes no others
 *
 * One applies to a single update, and ends with the agent:
 * - `removal`: the next update that exceeds the removal limits is accepted
 */
export class Overrides {
  readonly #file: string;
  #pulled: LastingOverrides;
  #removal: Override | undefined;
  #damage: string | undefined;
  #problem: string | undefined;

  private constructor(file: string, { value, damage }: LoadedFile<LastingOverrides>) {
    this.#file = file;
    this.#pulled = value;
    this.#damage = damage;
  }

  static async load(file: string): Promise<Overrides> {
    return new Overrides(file, await loadSmallFile(file, overridesFile, {}));
  }

  get(name: OverrideName): Override | undefined {
    return name === 'removal' ? this.#removal : this.#pulled[name];
  }

  /** Why decisions may be lost; undefined if none is, or after an operator has decided again. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Why the decisions are not on disk; undefined if they are. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Applies the decision at once, also if it can't be stored yet. */
  async set(name: OverrideName, override: Override | undefined): Promise<void> {
    if (name === 'removal') {
      this.#removal = override;
      return;
    }
    const { [name]: _before, ...others } = this.#pulled;
    this.#pulled = override === undefined ? others : { ...others, [name]: override };
    this.#damage = undefined;
    await this.#store();
  }

  /** Stores decisions that could not be stored before. */
  async storeAgain(): Promise<void> {
    if (this.#problem !== undefined) await this.#store();
  }

  async #store(): Promise<void> {
    try {
      await storeSmallFile(this.#file, JSON.stringify(this.#pulled));
      this.#problem = undefined;
    } catch (error) {
      this.#problem = `the overrides can't be stored in ${this.#file}: ${CausewayError.from(error).message}`;
    }
  }
}
