import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { EndpointId } from './endpoint.ts';

/** One thing that is wrong with a request, with the endpoint it belongs to where it can be told. */
export interface Rejection {
  readonly endpoint: EndpointId | undefined;
  /** The record's place in the request, counted from 1; 0 where it is about the whole. */
  readonly record: number;
  readonly message: string;
}

const longestMessage = 400;

/** What was thrown while parsing, as one line of bounded length without control characters. */
export function describeProblem(thrown: unknown): string {
  return printable(messageOf(thrown)).slice(0, longestMessage);
}

/** The same without anything that the request said: for what is kept, and written down. */
export function describeWithoutQuotes(thrown: unknown): string {
  // The message is short, see above: that its quotes are looked at more than once costs nothing.
  return describeProblem(thrown).replaceAll(/"(?:[^"\\]|\\.)*(?:"|$)/g, '(...)');
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof z.ZodError) {
    return thrown.issues
      .slice(0, 3)
      .map((issue) => `${issue.path.map(String).join('.') || 'the record'}: ${issue.message}`)
      .join('; ');
  }
  if (thrown instanceof CausewayError) {
    return thrown.hint === undefined ? thrown.message : `${thrown.message}. ${thrown.hint}`;
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Requests are hostile, and messages end in logs and terminals. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
