const compiled = new Map<string, RegExp | undefined>();
const mostKept = 1_000;

/**
 * A pattern written for Go's regular expressions, or undefined where it does not compile. The two
 * dialects agree on what schemas use; `(?i)` in front and `\z` at the end are translated.
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
      // Escapes such as `\-` are errors in Unicode mode only: try without it.
    }
  }
  return undefined;
}
