import type { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';

/** Parses a small file of the agent. The error for a damaged file has its name and a remedy. */
export function readStoredJson<T>(file: string, text: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CausewayError('invalid', `${file} is damaged`, {
      cause,
      hint: 'Check its contents, move it away and start the agent again.',
    });
  }
}
