import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { chunksOf, readBounded } from './bounded-body.ts';

const tooLarge = () => new Error('too large');

test('reads a body up to the limit, and rejects a larger body', async () => {
  const body = () => Readable.from([Buffer.from('ab'), Buffer.from('cd')]);
  expect((await readBounded(body(), 4, tooLarge)).toString()).toBe('abcd');
  await expect(readBounded(body(), 3, tooLarge)).rejects.toThrow('too large');
});

test('does not destroy a request that is rejected halfway', async () => {
  const request = Readable.from([Buffer.from('ab'), Buffer.from('cd')]);
  await expect(readBounded(chunksOf(request), 1, tooLarge)).rejects.toThrow('too large');
  expect(request.destroyed).toBe(false);
});
