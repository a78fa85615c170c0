import fs from 'node:fs/promises';
import { z } from 'zod';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { leverRecord, type Lever, type LeverName } from '../protocol/override.ts';
import { readStoredJson } from './store/stored-json.ts';

const leversFile = z.strictObject({
  frozen: leverRecord.optional(),
  drained: leverRecord.optional(),
});

/** Levers that hold until they are taken back, over restarts too. */
type LastingName = keyof z.infer<typeof leversFile>;

/**
 * What an operator has decided for this gateway. Two hold until taken back, over restarts too:
 * - `frozen`: no push is taken
 * - `drained`: the gateway gives up its addresses and takes no others
 *
 * One is good for a single push, and forgotten when the agent ends:
 * - `removal`: the next push that removes more than it may is taken all the same
 */
export class Levers {
  readonly #file: string;
  #pulled: z.infer<typeof leversFile>;
  #removal: Lever | undefined;

  private constructor(file: string, pulled: z.infer<typeof leversFile>) {
    this.#file = file;
    this.#pulled = pulled;
  }

  static async load(file: string): Promise<Levers> {
    const text = await fs.readFile(file, 'utf8').catch(() => '{}');
    return new Levers(file, readStoredJson(file, text, leversFile));
  }

  get(name: LeverName): Lever | undefined {
    return name === 'removal' ? this.#removal : this.#pulled[name];
  }

  async set(name: LeverName, lever: Lever | undefined): Promise<void> {
    if (name === 'removal') this.#removal = lever;
    else await this.#write(name, lever);
  }

  /** Writes the decision down before it counts. */
  async #write(name: LastingName, lever: Lever | undefined): Promise<void> {
    const { [name]: _before, ...others } = this.#pulled;
    const next = lever === undefined ? others : { ...others, [name]: lever };
    await replaceFile(this.#file, JSON.stringify(next));
    this.#pulled = next;
  }
}
