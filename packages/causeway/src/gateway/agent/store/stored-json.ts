import type { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';

/** A small file of the agent's own. One that was damaged is told by its name, with what to do about it. */
export function readStoredJson<T>(file: string, text: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CausewayError('invalid', `${file} is damaged`, {
      cause,
      hint: 'Look at what it says, move it away and start again.',
    });
  }
}
