import { CausewayError } from '@causeway/base/error/causeway-error';
import { readBounded } from '@causeway/base/http/bounded-body';
import type { Operation } from './operation.ts';
import { errorOf } from './problem.ts';

// Reads answers. They may come from an allocator, from a proxy or other server in front of it, or never end.

/** Far above the size of all addresses of a large site. */
const largestAnswer = 64 * 1024 * 1024;

export async function readText(
  body: AsyncIterable<Uint8Array>,
  limit = largestAnswer,
): Promise<string> {
  const tooLarge = () =>
    new CausewayError('unavailable', `the allocator's answer is over ${limit} bytes`);
  return (await readBounded(body, limit, tooLarge)).toString();
}

/**
 * Returns the answer in the form that the operation defines. Otherwise throws the error that the server sent.
 */
export function readAnswer(operation: Operation, status: number, text: string): unknown {
  const body = parseJson(text);
  if (status >= 300) throw errorOf(status, body);
  const result = operation.answer.safeParse(body);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.map(String).join('.') || 'its top';
  throw new CausewayError('unavailable', `the allocator's answer is wrong at ${where}`, {
    hint: 'Check that the URL leads to an allocator and that its version is compatible.',
  });
}

/** Undefined for text that is not JSON; the caller reports the missing fields. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
