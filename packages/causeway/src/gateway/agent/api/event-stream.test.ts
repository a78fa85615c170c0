import type { ServerResponse } from 'node:http';
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { EventStream } from './event-stream.ts';

/** A response with a reader that accepts nothing until the test allows it. */
class Reader extends EventEmitter {
  writableLength = 0;
  isCut = false;
  hasEnded = false;
  lines = 0;
  readonly writeHead = () => this;

  write(text: string): boolean {
    if (this.hasEnded) throw new Error('write after end');
    this.writableLength += text.length;
    this.lines += 1;
    return this.writableLength < 64 * 1024;
  }

  end(): void {
    this.hasEnded = true;
  }

  destroy(): void {
    this.isCut = true;
    this.emit('close');
  }
}

function listen() {
  const stream = new EventStream(() => undefined);
  const reader = new Reader();
  stream.add(reader as unknown as ServerResponse, {});
  return { stream, reader };
}

test('sends a long line to a reader that keeps up', () => {
  const { stream, reader } = listen();
  for (let count = 0; count < 20; count += 1) {
    stream.send({ errors: 'x'.repeat(2_000_000) });
    reader.writableLength = 0;
  }
  expect(reader).toMatchObject({ isCut: false, lines: 21 });
});

test("disconnects a reader that doesn't keep up", () => {
  const { stream, reader } = listen();
  for (let count = 0; count < 20 && !reader.isCut; count += 1) {
    stream.send({ errors: 'x'.repeat(100_000) });
  }
  expect(reader.isCut).toBe(true);
  expect(stream.hasListeners).toBe(false);
});

test('sends nothing after the end', () => {
  const { stream, reader } = listen();
  stream.close();
  expect(() => stream.send({})).not.toThrow();
  expect(reader).toMatchObject({ hasEnded: true, lines: 1 });
});
