/**
 * How long a text from outside may be before Causeway reads it, in characters. A longer text is refused
 * unread, so that no parser sees it.
 */
export const textLimits = {
  /** A value that a user writes: a duration, an address, a name, a list of labels. */
  value: 1_024,
  /** A value that Causeway or another controller writes, as JSON. */
  record: 131_072,
  /** One source range: Kubernetes accepts spaces around it. */
  range: 64,
  duration: 64,
} as const;

const longestQuote = 64;

/** The text in quotes for a message. Only the start of a long text is shown: messages end in Events. */
export function quoted(text: string): string {
  if (text.length <= longestQuote) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, longestQuote).toWellFormed())}… (${text.length} characters)`;
}
