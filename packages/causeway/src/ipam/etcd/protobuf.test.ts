import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeTransaction } from './messages.ts';
import { isNegative, MessageWriter, readFields } from './protobuf.ts';

describe('the protobuf wire format', () => {
  test('reads numbers and texts as they were written', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 500 }),
        (value, text) => {
          const message = new MessageWriter().present(3, value).text(900, text).finish();
          const [first, second] = readFields(message);
          expect(first).toMatchObject({ number: 3, value });
          expect(second?.number).toBe(900);
          expect(second?.bytes.toString()).toBe(text);
        },
      ),
    );
  });

  test('writes a comparison with revision 0', () => {
    const message = encodeTransaction({
      conditions: [{ key: 'a', revision: 0 }],
      writes: [{ key: 'a', value: 'b' }],
    });
    expect(message.toString('hex')).toBe('0a0710021a01613000120812060a0161120162');
  });

  test('recognizes a negative number', () => {
    const minusOne = Buffer.from('10ffffffffffffffffff01', 'hex');
    const [field] = readFields(minusOne);
    expect(isNegative(field?.value ?? 0)).toBe(true);
  });

  test.each(['0a', '0a05', '08ff', '0b', '0d00000000'])('rejects %s', (hex) => {
    expect(() => [...readFields(Buffer.from(hex, 'hex'))]).toThrow('malformed protobuf');
  });
});
