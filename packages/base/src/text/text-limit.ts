/**
 * Length limits of texts from outside, in characters. A longer text is rejected before it reaches a parser.
 */
export const textLimits = {
  /** A value that a user writes: a duration, an address, a name, a list of labels. */
  value: 1_024,
  /** A JSON value that Causeway or another controller writes. */
  record: 131_072,
  /** One source range. Kubernetes accepts spaces around it. */
  range: 64,
  duration: 64,
} as const;

const longestQuote = 64;

/**
 * The text in quotes for a message. Shows only the start of a long text, because messages end up in Events.
 */
export function quoted(text: string): string {
  if (text.length <= longestQuote) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, longestQuote).toWellFormed())}… (${text.length} characters)`;
}
