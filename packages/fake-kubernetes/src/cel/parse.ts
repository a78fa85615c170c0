import { CelSyntaxError } from './errors.ts';
import { tokenize, type Token } from './tokens.ts';

export type Expression =
  | { readonly kind: 'literal'; readonly value: null | boolean | number | string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'member'; readonly of: Expression; readonly name: string }
  | { readonly kind: 'index'; readonly of: Expression; readonly index: Expression }
  | {
      readonly kind: 'call';
      /** Absent for functions without a receiver. */
      readonly on?: Expression;
      readonly name: string;
      readonly args: readonly Expression[];
    }
  | { readonly kind: 'unary'; readonly sign: string; readonly of: Expression }
  | {
      readonly kind: 'binary';
      readonly sign: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'choice';
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    };

/** Operators in order of precedence, lowest first. */
const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['<', '<=', '>', '>=', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

const literals: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };

export function parse(source: string): Expression {
  const parser = new Parser(tokenize(source));
  return parser.whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#expression();
    if (this.#next().kind !== 'end') throw new CelSyntaxError('there is more than one expression');
    return expression;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end' };
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #takes(sign: string): boolean {
    const token = this.#peek();
    const isIt =
      (token.kind === 'sign' || (token.kind === 'name' && sign === 'in')) && token.text === sign;
    if (isIt) this.#at += 1;
    return isIt;
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw new CelSyntaxError(`expected ${sign}`);
  }

  #expression(): Expression {
    const test = this.#binary(0);
    if (!this.#takes('?')) return test;
    const yes = this.#binary(0);
    this.#expect(':');
    return { kind: 'choice', test, yes, no: this.#expression() };
  }

  #binary(level: number): Expression {
    const signs = levels[level];
    if (signs === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const sign = signs.find((one) => this.#takes(one));
      if (sign === undefined) return left;
      left = { kind: 'binary', sign, left, right: this.#binary(level + 1) };
    }
  }

  #unary(): Expression {
    for (const sign of ['!', '-']) {
      if (this.#takes(sign)) return { kind: 'unary', sign, of: this.#unary() };
    }
    return this.#members(this.#primary());
  }

  #members(start: Expression): Expression {
    let of = start;
    for (;;) {
      if (this.#takes('.')) {
        const token = this.#next();
        if (token.kind !== 'name') throw new CelSyntaxError('expected the name of a field');
        of = this.#takes('(')
          ? { kind: 'call', on: of, name: token.text, args: this.#list(')') }
          : { kind: 'member', of, name: token.text };
      } else if (this.#takes('[')) {
        const index = this.#expression();
        this.#expect(']');
        of = { kind: 'index', of, index };
      } else return of;
    }
  }

  #list(end: string): Expression[] {
    const items: Expression[] = [];
    while (!this.#takes(end)) {
      items.push(this.#expression());
      if (!this.#takes(',')) {
        this.#expect(end);
        break;
      }
    }
    return items;
  }

  #primary(): Expression {
    if (this.#takes('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#takes('[')) return { kind: 'list', items: this.#list(']') };
    if (this.#takes('{')) return { kind: 'map', entries: this.#entries() };
    const token = this.#next();
    switch (token.kind) {
      case 'number':
      case 'text':
        return { kind: 'literal', value: token.value };
      case 'name': {
        const literal = literals[token.text];
        if (literal !== undefined) return { kind: 'literal', value: literal };
        if (this.#takes('(')) return { kind: 'call', name: token.text, args: this.#list(')') };
        return { kind: 'name', name: token.text };
      }
      default:
        throw new CelSyntaxError('expected a value');
    }
  }

  #entries(): (readonly [Expression, Expression])[] {
    const entries: (readonly [Expression, Expression])[] = [];
    while (!this.#takes('}')) {
      const key = this.#expression();
      this.#expect(':');
      entries.push([key, this.#expression()]);
      if (!this.#takes(',')) {
        this.#expect('}');
        break;
      }
    }
    return entries;
  }
}

/** Whether the expression refers to a name. */
export function mentions(expression: Expression, name: string): boolean {
  return JSON.stringify(expression).includes(JSON.stringify({ kind: 'name', name }));
}
