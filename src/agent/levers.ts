import fs from 'node:fs/promises';
import { z } from 'zod';
import { replaceFile } from '../runtime/atomic-file.ts';

const leverRecord = z.strictObject({ since: z.number(), reason: z.string().max(200) });
const leversFile = z.strictObject({
  frozen: leverRecord.optional(),
  drained: leverRecord.optional(),
});

export type Lever = z.infer<typeof leverRecord>;
export type LeverName = 'frozen' | 'drained';

/**
 * What an operator has decided for this gateway. It holds until taken back, over restarts too:
 * - `frozen`: no push is taken
 * - `drained`: the gateway gives up its addresses and takes no others
 */
export class Levers {
  readonly #file: string;
  #pulled: z.infer<typeof leversFile>;

  private constructor(file: string, pulled: z.infer<typeof leversFile>) {
    this.#file = file;
    this.#pulled = pulled;
  }

  static async load(file: string): Promise<Levers> {
    const text = await fs.readFile(file, 'utf8').catch(() => '{}');
    return new Levers(file, leversFile.parse(JSON.parse(text)));
  }

  get(name: LeverName): Lever | undefined {
    return this.#pulled[name];
  }

  /** Writes the decision down before it counts. */
  async set(name: LeverName, lever: Lever | undefined): Promise<void> {
    const { [name]: _before, ...others } = this.#pulled;
    const next = lever === undefined ? others : { ...others, [name]: lever };
    await replaceFile(this.#file, JSON.stringify(next));
    this.#pulled = next;
  }
}
