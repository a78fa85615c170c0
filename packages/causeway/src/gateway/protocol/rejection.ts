import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { FrontendId } from './frontend.ts';

/** One error of a request, with its frontend if it is known. */
export interface Rejection {
  readonly frontend: FrontendId | undefined;
  /** The record's position in the request, counted from 1; 0 for an error of the whole request. */
  readonly record: number;
  readonly message: string;
}

const longestMessage = 400;

/** A parse error as one line of bounded length without control characters. */
export function describeProblem(thrown: unknown): string {
  return printable(messageOf(thrown)).slice(0, longestMessage);
}

/** The same without quotes from the request, for stored text. */
export function describeWithoutQuotes(thrown: unknown): string {
  // The message is short, so the repeated matching of quotes costs little.
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

/** Requests may be hostile, and messages appear in logs and terminals. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
