import { CelSyntaxError } from './errors.ts';

export type Token =
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number; readonly isDouble: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'sign'; readonly text: string }
  | { readonly kind: 'end' };

const spaces = /\s+|\/\/[^\n]*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*|`[^`]+`/y;
const number = /0x[0-9a-fA-F]+u?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+u?/y;
const text =
  /(r|R)?(?:"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)')/y;
const sign = /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y;

/** Splits a CEL expression into tokens. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  while (at < source.length) {
    if (match(spaces) !== null) continue;
    const quoted = match(text);
    if (quoted !== null) {
      tokens.push({ kind: 'text', value: textValue(quoted) });
      continue;
    }
    const digits = match(number)?.[0];
    if (digits !== undefined) {
      const isDouble = !digits.startsWith('0x') && /[.eE]/.test(digits);
      tokens.push({ kind: 'number', value: Number(digits.replace(/u$/, '')), isDouble });
      continue;
    }
    const word = match(name)?.[0];
    if (word !== undefined) {
      tokens.push({ kind: 'name', text: word.replaceAll('`', '') });
      continue;
    }
    const mark = match(sign)?.[0];
    if (mark === undefined) throw new CelSyntaxError(`unexpected ${source.slice(at, at + 10)}`);
    tokens.push({ kind: 'sign', text: mark });
  }
  return [...tokens, { kind: 'end' }];
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};

function textValue([, raw, ...bodies]: RegExpExecArray): string {
  const body = bodies.find((one) => one !== undefined) ?? '';
  if (raw !== undefined) return body;
  return body.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/g,
    (_, unicode: string | undefined, hex: string | undefined, letter: string | undefined) => {
      const code = unicode ?? hex;
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      return escapes[letter ?? ''] ?? letter ?? '';
    },
  );
}
