import { createHash } from 'node:crypto';
import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { listen } from '@causeway/base/network/listen';
import { dial, relay } from './relay.ts';

const open: net.Socket[] = [];
const servers: net.Server[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Two ends of one connection. */
async function connection(): Promise<readonly [net.Socket, net.Socket]> {
  const accepted = Promise.withResolvers<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, accepted.resolve);
  servers.push(server);
  const port = await listen(server);
  const near = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const far = await accepted.promise;
  for (const socket of [near, far]) socket.on('error', () => socket.destroy());
  open.push(near, far);
  return [near, far];
}

/** More than the kernel buffers for two connections. */
const total = 128 * 1024 * 1024;
const piece = Buffer.alloc(1024 * 1024, 'causeway');

async function sendAll(to: net.Socket): Promise<void> {
  for (let sent = 0; sent < total; sent += piece.length) {
    if (!to.write(piece)) await new Promise((resolve) => to.once('drain', resolve));
  }
  to.end();
}

describe('relay', () => {
  test.each([
    ['a server that does not read slows down the client', false],
    ['a client that does not read slows down the server', true],
  ])('%s, and no byte is lost', async (_, isReversed) => {
    const [client, left] = await connection();
    const [right, server] = await connection();
    const [writer, reader] = isReversed ? [server, client] : [client, server];
    const [from, to] = isReversed ? [right, left] : [left, right];
    const done = relay(left, right);
    const sent = sendAll(writer);
    await expect.poll(() => to.writableNeedDrain, { timeout: 120_000 }).toBe(true);
    expect(from.isPaused()).toBe(true);
    // The relay itself buffers only one piece that it has read, whatever the total.
    expect(to.writableLength + from.readableLength).toBeLessThan(piece.length);
    const hash = createHash('sha256');
    let heard = 0;
    for await (const data of reader as AsyncIterable<Buffer>) {
      hash.update(data);
      heard += data.length;
      expect(to.writableLength).toBeLessThan(piece.length);
    }
    await sent;
    const wanted = createHash('sha256');
    for (let at = 0; at < total; at += piece.length) wanted.update(piece);
    expect(heard).toBe(total);
    expect(hash.digest('hex')).toBe(wanted.digest('hex'));
    reader.end();
    writer.resume();
    await done;
  });
});

test('opens no connection for a client that left before the first attempt', async () => {
  const server = net.createServer();
  servers.push(server);
  const port = await listen(server);
  const dialled = dial({ address: '127.0.0.1', port }, systemClock, AbortSignal.abort());
  void dialled.then((socket) => open.push(socket)).catch(() => undefined);
  await expect(dialled).rejects.toMatchObject({ code: 'aborted' });
});
