import { RE2JS, RE2JSException } from 're2js';

/** A Go regular expression. Like in Go, the time of a match is linear in the length of the text. */
export interface Pattern {
  /** The first match in the text. Throws `TooLongToMatch` before it starts a match that takes seconds. */
  find(text: string): string | undefined;
}

/** The pattern's program times the length of the text exceeds the limit of one match. */
export class TooLongToMatch extends Error {
  constructor() {
    super('the text is too long for this pattern');
  }
}

/** Steps of one match: about two seconds in the worst case. Counted repeats such as `a{1000}` multiply them. */
const mostSteps = 5_000_000;
const mostKept = 1_000;
const compiled = new Map<string, Pattern | undefined>();

/** Compiles a Go regular expression. Returns undefined if it is invalid. */
export function compiledPattern(pattern: string): Pattern | undefined {
  const known = compiled.get(pattern);
  if (known !== undefined || compiled.has(pattern)) return known;
  if (compiled.size >= mostKept) compiled.clear();
  const expression = compile(pattern);
  compiled.set(pattern, expression);
  return expression;
}

function compile(pattern: string): Pattern | undefined {
  try {
    const expression = RE2JS.compile(pattern);
    const size = expression.programSize();
    return {
      find(text) {
        if (size * text.length > mostSteps) throw new TooLongToMatch();
        const matcher = expression.matcher(text);
        return matcher.find() ? (matcher.group() ?? undefined) : undefined;
      },
    };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
