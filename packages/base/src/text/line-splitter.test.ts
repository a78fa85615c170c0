import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

describe('LineSplitter', () => {
  it('returns the lines for any split of the bytes, including splits inside a character', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'));
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
        expect(splitter.end()).toBeUndefined();
      }),
    );
  });

  it('returns the unfinished line at the end', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('one\ntw'))).toEqual(['one']);
    expect(splitter.push(Buffer.from('o\nth'))).toEqual(['two']);
    expect(splitter.end()).toBe('th');
    expect(splitter.end()).toBeUndefined();
  });

  it("throws its limit's error for a longer line, complete or not, in one chunk or several", () => {
    const limited = () => new LineSplitter({ bytes: 3, tooLong: () => new Error('too long') });
    expect(limited().push(Buffer.from('abc\nabc'))).toEqual(['abc']);
    expect(() => limited().push(Buffer.from('abcd\n'))).toThrow('too long');
    const splitter = limited();
    splitter.push(Buffer.from('ab'));
    expect(() => splitter.push(Buffer.from('cd'))).toThrow('too long');
  });
});
