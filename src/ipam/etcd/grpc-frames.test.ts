import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader, frameOf } from './grpc-frames.ts';

test('messages arrive whole however the network cuts them', () => {
  const message = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (messages, cuts) => {
        const wire = Buffer.concat(messages.map(frameOf));
        const received: Buffer[] = [];
        const reader = new FrameReader((each) => received.push(Buffer.from(each)));
        for (let offset = 0, turn = 0; offset < wire.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          reader.push(wire.subarray(offset, offset + size));
          offset += size;
        }
        expect(received).toEqual(messages);
      },
    ),
  );
});
