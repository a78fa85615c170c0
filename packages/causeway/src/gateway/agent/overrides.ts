import fs from 'node:fs/promises';
import { z } from 'zod';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { overrideRecord, type Override, type OverrideName } from '../protocol/override.ts';
import { readStoredJson } from './store/stored-json.ts';

const overridesFile = z.strictObject({
  frozen: overrideRecord.optional(),
  drained: overrideRecord.optional(),
});

/** Overrides that apply until they are cleared, including after restarts. */
type LastingName = keyof z.infer<typeof overridesFile>;

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
  #pulled: z.infer<typeof overridesFile>;
  #removal: Override | undefined;

  private constructor(file: string, pulled: z.infer<typeof overridesFile>) {
    this.#file = file;
    this.#pulled = pulled;
  }

  static async load(file: string): Promise<Overrides> {
    const text = await fs.readFile(file, 'utf8').catch(() => '{}');
    return new Overrides(file, readStoredJson(file, text, overridesFile));
  }

  get(name: OverrideName): Override | undefined {
    return name === 'removal' ? this.#removal : this.#pulled[name];
  }

  async set(name: OverrideName, override: Override | undefined): Promise<void> {
    if (name === 'removal') this.#removal = override;
    else await this.#write(name, override);
  }

  /** Stores the decision before it takes effect. */
  async #write(name: LastingName, override: Override | undefined): Promise<void> {
    const { [name]: _before, ...others } = this.#pulled;
    const next = override === undefined ? others : { ...others, [name]: override };
    await replaceFile(this.#file, JSON.stringify(next));
    this.#pulled = next;
  }
}
