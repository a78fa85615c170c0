const compiled = new Map<string, RegExp | undefined>();
const mostKept = 1_000;

/**
 * Compiles a Go regular expression. Returns undefined if it doesn't compile. Both dialects agree on the
 * syntax that schemas use; a leading `(?i)` and a trailing `\z` are translated.
 */
export function compiledPattern(pattern: string): RegExp | undefined {
  const known = compiled.get(pattern);
  if (known !== undefined || compiled.has(pattern)) return known;
  if (compiled.size >= mostKept) compiled.clear();
  const expression = translate(pattern);
  compiled.set(pattern, expression);
  return expression;
}

function translate(pattern: string): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(pattern);
  const body = pattern
    .slice(flags?.[0].length ?? 0)
    .replaceAll(/\\A/g, '^')
    .replaceAll(/\\z/g, '$')
    .replaceAll('(?P<', '(?<');
  for (const mode of ['u', '']) {
    try {
      return new RegExp(body, `${flags?.[1] ?? ''}${mode}`);
    } catch {
      // Escapes such as `\-` are invalid only in Unicode mode, so the loop retries without it.
    }
  }
  return undefined;
}
