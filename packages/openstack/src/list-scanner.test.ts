import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListScanner } from './list-scanner.ts';

function scan(text: string, key: string, cuts: readonly number[]) {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const scanner = new ListScanner(key);
  const items: unknown[] = [];
  let start = 0;
  for (const end of ends) {
    items.push(...scanner.push(bytes.subarray(start, end)));
    start = end;
  }
  return { items, envelope: scanner.end() };
}

describe('ListScanner', () => {
  it('finds the same objects as JSON.parse, for any split of the input', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.array(object, { maxLength: 6 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.nat(2_000), { maxLength: 8 }),
        fc.constantFrom(undefined, 2),
        (list, before, after, cuts, indent) => {
          const whole = { ...before, ports: list, ...after };
          if (!Array.isArray(whole.ports) || !('ports' in whole)) return;
          const text = JSON.stringify({ ...whole, ports: list }, undefined, indent);
          const { items, envelope } = scan(text, 'ports', cuts);
          expect(items).toEqual((JSON.parse(text) as typeof whole).ports);
          expect(envelope).toEqual({ ...(JSON.parse(text) as object), ports: [] });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('accepts a split inside a character, a key and an escape', () => {
    const text = '{"po\\u0072ts2":1,"ports":[{"name":"zürich \\"]}"},{"n":"ü"}],"links":"ü"}';
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) {
      const { items, envelope } = scan(text, 'ports', [cut]);
      expect(items).toEqual([{ name: 'zürich "]}' }, { n: 'ü' }]);
      expect(envelope).toEqual({ ports2: 1, ports: [], links: 'ü' });
    }
  });

  it.each([
    ['is truncated', '{"ports":[{"a":1},{"b"'],
    ['is not JSON', '<html></html>'],
    ['has no list', '{"networks":[]}'],
    ['is a list itself', '[{"id":1}]'],
    ['has another type under the key', '{"ports":{"a":[]}}'],
    ['contains an invalid object', '{"ports":[{a:1}]}'],
  ])('rejects an answer that %s', (_what, text) => {
    expect(() => scan(text, 'ports', [])).toThrow(/the answer/);
  });
});
