import { isObject } from '../object.ts';
import { jsonEqual } from '../schema/json.ts';
import { CelEvaluationError, CelSyntaxError } from './errors.ts';
import { callFunction, callMethod } from './functions.ts';
import type { Expression } from './parse.ts';

export type Scope = Readonly<Record<string, unknown>>;

/** Evaluates an expression. Values are JSON; whole numbers are integers. */
export function evaluate(expression: Expression, scope: Scope): unknown {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'name':
      if (!Object.hasOwn(scope, expression.name)) {
        throw new CelSyntaxError(`undeclared reference to '${expression.name}'`);
      }
      return scope[expression.name];
    case 'list':
      return expression.items.map((item) => evaluate(item, scope));
    case 'map':
      return Object.fromEntries(
        expression.entries.map(([key, value]) => [
          String(evaluate(key, scope)),
          evaluate(value, scope),
        ]),
      );
    case 'member':
      return memberOf(evaluate(expression.of, scope), unescaped(expression.name));
    case 'index':
      return itemOf(evaluate(expression.of, scope), evaluate(expression.index, scope));
    case 'call':
      return call(expression, scope);
    case 'unary': {
      const value = evaluate(expression.of, scope);
      return expression.sign === '!' ? !asBoolean(value) : -asNumber(value);
    }
    case 'binary':
      return binary(expression, scope);
    case 'choice':
      return evaluate(
        asBoolean(evaluate(expression.test, scope)) ? expression.yes : expression.no,
        scope,
      );
  }
}

const escapes: readonly (readonly [string, string])[] = [
  ['__underscores__', '__'],
  ['__dot__', '.'],
  ['__dash__', '-'],
  ['__slash__', '/'],
];

/** Decodes the CEL escapes of a field name that is not a valid CEL identifier. */
function unescaped(name: string): string {
  const keyword = /^__([a-z]+)__$/.exec(name)?.[1];
  const known = escapes.find(([written]) => written === name);
  if (keyword !== undefined && known === undefined) return keyword;
  return escapes.reduce((text, [written, meant]) => text.replaceAll(written, meant), name);
}

function memberOf(value: unknown, name: string): unknown {
  if (!isObject(value)) throw new CelEvaluationError('no such overload');
  if (!Object.hasOwn(value, name)) throw new CelEvaluationError(`no such key: ${name}`);
  return value[name];
}

function itemOf(value: unknown, index: unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const place = asNumber(index);
    if (place < 0 || place >= items.length) {
      throw new CelEvaluationError(`index out of bounds: ${place}`);
    }
    return items[place];
  }
  return memberOf(value, String(index));
}

function asBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new CelEvaluationError('no such overload');
  return value;
}

function asNumber(value: unknown): number {
  if (typeof value !== 'number') throw new CelEvaluationError('no such overload');
  return value;
}

function binary(
  { sign, left, right }: Extract<Expression, { kind: 'binary' }>,
  scope: Scope,
): unknown {
  if (sign === '&&' || sign === '||') return logical(sign === '||', left, right, scope);
  const a = evaluate(left, scope);
  const b = evaluate(right, scope);
  switch (sign) {
    case '==':
      return jsonEqual(a, b);
    case '!=':
      return !jsonEqual(a, b);
    case 'in':
      return contains(b, a);
    case '+':
      if (typeof a === 'string' && typeof b === 'string') return a + b;
      if (Array.isArray(a) && Array.isArray(b)) return [...(a as unknown[]), ...(b as unknown[])];
      return asNumber(a) + asNumber(b);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compare(sign, a, b);
    default:
      return arithmetic(sign, asNumber(a), asNumber(b));
  }
}

/** Either side alone can decide the result, even if the evaluation of the other side fails. */
function logical(decisive: boolean, left: Expression, right: Expression, scope: Scope): boolean {
  let failure: CelEvaluationError | undefined;
  for (const side of [left, right]) {
    try {
      if (asBoolean(evaluate(side, scope)) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelEvaluationError)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function contains(collection: unknown, wanted: unknown): boolean {
  if (Array.isArray(collection)) return collection.some((item) => jsonEqual(item, wanted));
  if (isObject(collection)) return Object.hasOwn(collection, String(wanted));
  throw new CelEvaluationError('no such overload');
}

function compare(sign: '<' | '<=' | '>' | '>=', a: unknown, b: unknown): boolean {
  const isComparable =
    (typeof a === 'number' && typeof b === 'number') ||
    (typeof a === 'string' && typeof b === 'string') ||
    (typeof a === 'boolean' && typeof b === 'boolean');
  if (!isComparable) throw new CelEvaluationError('no such overload');
  const [left, right] = [a as number, b as number];
  switch (sign) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

function arithmetic(sign: string, a: number, b: number): number {
  const areWhole = Number.isInteger(a) && Number.isInteger(b);
  switch (sign) {
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      if (areWhole && b === 0) throw new CelEvaluationError('division by zero');
      return areWhole ? Math.trunc(a / b) : a / b;
    case '%':
      if (b === 0) throw new CelEvaluationError('modulus by zero');
      return a % b;
    default:
      throw new CelSyntaxError(`unknown operator ${sign}`);
  }
}

type Call = Extract<Expression, { kind: 'call' }>;

const macros = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);

function call(expression: Call, scope: Scope): unknown {
  const { on, name, args } = expression;
  if (on === undefined) {
    if (name === 'has') return has(args[0], scope);
    return callFunction(
      name,
      args.map((argument) => evaluate(argument, scope)),
    );
  }
  if (on.kind === 'name' && on.name === 'cel' && name === 'bind') return bind(args, scope);
  const value = evaluate(on, scope);
  if (macros.has(name) && args[0]?.kind === 'name') return macro(name, value, args, scope);
  return callMethod(
    name,
    value,
    args.map((argument) => evaluate(argument, scope)),
  );
}

function has(field: Expression | undefined, scope: Scope): boolean {
  if (field?.kind !== 'member') throw new CelSyntaxError('has() takes a field');
  const value = evaluate(field.of, scope);
  return isObject(value) && Object.hasOwn(value, unescaped(field.name));
}

function bind([name, value, body]: readonly Expression[], scope: Scope): unknown {
  if (name?.kind !== 'name' || value === undefined || body === undefined) {
    throw new CelSyntaxError('cel.bind() takes a name, a value and an expression');
  }
  return evaluate(body, { ...scope, [name.name]: evaluate(value, scope) });
}

/** The macros iterate over the items of a list and over the keys of a map. */
function macro(name: string, value: unknown, args: readonly Expression[], scope: Scope): unknown {
  const [variable, ...bodies] = args;
  const [body, result] = bodies;
  if (variable?.kind !== 'name' || body === undefined) throw new CelSyntaxError(`${name}()?`);
  const items: readonly unknown[] = Array.isArray(value)
    ? value
    : isObject(value)
      ? Object.keys(value)
      : [];
  const at = (expression: Expression, item: unknown) =>
    evaluate(expression, { ...scope, [variable.name]: item });
  switch (name) {
    case 'all':
      return items.every((item) => asBoolean(at(body, item)));
    case 'exists':
      return items.some((item) => asBoolean(at(body, item)));
    case 'exists_one':
      return items.filter((item) => asBoolean(at(body, item))).length === 1;
    case 'filter':
      return items.filter((item) => asBoolean(at(body, item)));
    default:
      if (result === undefined) return items.map((item) => at(body, item));
      return items.filter((item) => asBoolean(at(body, item))).map((item) => at(result, item));
  }
}
