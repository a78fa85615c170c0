import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './lines.ts';

describe('LineSplitter', () => {
  it('returns the lines for any split of the bytes, including multi-byte characters', () => {
    const line = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
        const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(''));
        const splitter = new LineSplitter();
        const found: string[] = [];
        const ends = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        let start = 0;
        for (const end of [...ends, bytes.length]) {
          found.push(...splitter.push(bytes.subarray(start, end)));
          start = end;
        }
        expect(found).toEqual(lines);
        expect(splitter.isInsideLine).toBe(false);
      }),
    );
  });

  it('detects a stream that ends inside a line', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(new TextEncoder().encode('one\ntw'))).toEqual(['one']);
    expect(splitter.isInsideLine).toBe(true);
    expect(splitter.pendingBytes).toBe(2);
    expect(splitter.push(new TextEncoder().encode('o\nth'))).toEqual(['two']);
    expect(splitter.pendingBytes).toBe(2);
  });
});
