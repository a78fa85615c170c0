import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Operation } from './operation.ts';
import { errorOf } from './problem.ts';

// What an allocator answers, or whatever stands before it: a proxy's page, another server, or one that
// never stops talking.

/** Far above what all addresses of a large site take. */
const largestAnswer = 64 * 1024 * 1024;

export async function readText(
  body: AsyncIterable<Uint8Array>,
  limit = largestAnswer,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) {
      throw new CausewayError('unavailable', `the allocator's answer is over ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The answer as the call defines it, or what the server says instead. */
export function readAnswer(operation: Operation, status: number, text: string): unknown {
  const body = parseJson(text);
  if (status >= 300) throw errorOf(status, body);
  const result = operation.answer.safeParse(body);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.map(String).join('.') || 'its top';
  throw new CausewayError('unavailable', `the allocator's answer is wrong at ${where}`, {
    hint: 'Is this an allocator of a version that fits, and does its URL lead to it?',
  });
}

/** Undefined for what is not JSON; whoever reads it says what is missing. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
