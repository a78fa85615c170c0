import fc from 'fast-check';
import { expect } from 'vitest';
import { CausewayError, type ErrorCode } from '../../packages/base/src/error/causeway-error.ts';

/** Words with a meaning for JavaScript, a shell, a path, a terminal or a configuration. */
const loadedWords = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'],
  ...['..', '../../etc/passwd', '/', '//evil.example/', '.', '~', '%2e%2e%2f', '%00'],
  ...['$(id)', '`id`', '; flush ruleset', '" }\n', '\n}\nvrrp_instance x {', '{{.}}', '${x}'],
  ...['\u001b[2J', '\u009b31m', '\r\nSet-Cookie: a=b', '\u202e', '\ud800', '\u0000', '﷽'],
  ...['NaN', 'Infinity', '-0', '1e999', '9007199254740993', '0x10', '00', '１２'],
  ...['192.0.2.1', '2001:db8::1', '192.0.2.0/24', '::ffff:192.0.2.1', '80', 'TCP', 'true', 'null'],
];

/** Text of an attacker or of a broken program. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...loadedWords),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc
    .tuple(fc.constantFrom(...loadedWords), fc.string({ maxLength: 10 }))
    .map(([word, rest]) => word + rest),
  fc
    .tuple(fc.constantFrom('a', '-', '.', '[', '{', '"', '\\', ':', '٣'), fc.nat({ max: 3000 }))
    .map(([piece, times]) => piece.repeat(times)),
);

const hostileScalar = fc.oneof(
  hostileText,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, -1, 0, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308),
);

/**
 * Any JSON, with dangerous keys and of the given depth. An object with the key `__proto__` has it as its own
 * property.
 */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    hostileScalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(hostileText, tie('value')), { maxLength: 5 })
      .map((entries): unknown => Object.fromEntries(entries)),
  ),
})).value;

export const hostileBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

interface Place {
  readonly parent: Record<string, unknown> | unknown[];
  readonly key: string;
}

/** A valid document with a few changed places: most invalid input is nearly valid. */
export function nearly(valid: unknown): fc.Arbitrary<unknown> {
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('replace', 'remove', 'add', 'repeat'),
    key: hostileText,
    value: hostileJson,
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const root = { whole: structuredClone(valid) };
    for (const { at, how, key, value } of changes) {
      const places = placesOf(root);
      const place = places[at % places.length];
      if (place === undefined) continue;
      const parent = place.parent as Record<string, unknown>;
      const present = parent[place.key];
      if (how === 'remove' && place.parent !== root) Reflect.deleteProperty(parent, place.key);
      else if (how === 'add' && isBranch(present)) define(present, key, value);
      else if (how === 'repeat' && Array.isArray(present))
        present.push(...(present as unknown[]).slice(0, 3));
      else parent[place.key] = value;
    }
    return root.whole;
  });
}

/** The text of a valid document with changed bytes. */
export function nearlyText(valid: string): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 8 }),
    insert: fc.oneof(fc.constant(''), hostileText),
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce((text, { at, cut, insert }) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + insert + text.slice(start + cut);
    }, valid),
  );
}

export function nearlyBytes(valid: Buffer): fc.Arbitrary<Buffer> {
  const change = fc.record({
    at: fc.nat(),
    bytes: fc.uint8Array({ maxLength: 6 }),
    cut: fc.nat({ max: 6 }),
  });
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) =>
    changes.reduce((whole, { at, bytes, cut }) => {
      const start = at % (whole.length + 1);
      return Buffer.concat([whole.subarray(0, start), bytes, whole.subarray(start + cut)]);
    }, valid),
  );
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function define(target: object, key: string, value: unknown): void {
  const property = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(target, Array.isArray(target) ? String(target.length) : key, property);
}

function placesOf(branch: Record<string, unknown> | unknown[]): Place[] {
  return Object.entries(branch).flatMap(([key, value]) => [
    { parent: branch, key },
    ...(isBranch(value) ? placesOf(value as Record<string, unknown>) : []),
  ]);
}

/** Error codes of a rejection; an internal defect has the code `internal`. */
const refusals = new Set<ErrorCode>([
  ...(['invalid', 'unsupported', 'unauthorized', 'unavailable', 'not-found'] as const),
  ...(['forbidden', 'conflict', 'exhausted', 'gone', 'timeout'] as const),
]);

/**
 * Runs a parser on untrusted input: it returns a value, or rejects it with a message. Undefined after a
 * rejection. It must not change any shared object of the program.
 */
export function attempt<T>(parse: () => T, also: readonly ErrorCode[] = []): T | undefined {
  try {
    return parse();
  } catch (thrown) {
    expectRefusal(thrown, also);
    return undefined;
  } finally {
    expectNothingPolluted();
  }
}

export async function attemptAsync<T>(
  parse: () => Promise<T>,
  also: readonly ErrorCode[] = [],
): Promise<T | undefined> {
  try {
    return await parse();
  } catch (thrown) {
    expectRefusal(thrown, also);
    return undefined;
  } finally {
    expectNothingPolluted();
  }
}

function expectRefusal(thrown: unknown, also: readonly ErrorCode[]): void {
  if (!(thrown instanceof CausewayError)) throw thrown;
  if (!refusals.has(thrown.code) && !also.includes(thrown.code)) throw thrown;
  expect(thrown.message).not.toBe('');
}

const untouched = new Set(Reflect.ownKeys(Object.prototype));

function expectNothingPolluted(): void {
  for (const key of Reflect.ownKeys(Object.prototype)) {
    if (!untouched.has(key)) throw new Error(`Object.prototype has the property ${String(key)}`);
  }
}
