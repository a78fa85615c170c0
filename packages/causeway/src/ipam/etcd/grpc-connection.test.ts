import http2 from 'node:http2';
import fs from 'node:fs/promises';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { issueCertificate, makeAuthority } from '../../../../../test/services/certificates.ts';
import { removeDirectory, scratchDirectory } from '../../../../../test/services/scratch.ts';
import { waitFor } from '../../../../../test/services/wait-for.ts';
import { GrpcConnection, type TlsFiles } from './grpc-connection.ts';
import { listen } from '@causeway/base/network/listen';

const cleanUps: (() => Promise<void>)[] = [];
const uncaught: Error[] = [];
const collect = (error: Error) => uncaught.push(error);
beforeEach(() => {
  uncaught.length = 0;
  process.on('uncaughtExceptionMonitor', collect);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  process.off('uncaughtExceptionMonitor', collect);
});

const connect = (endpoint: string, signal: AbortSignal, tls: TlsFiles = {}) =>
  GrpcConnection.connect(endpoint, tls, signal);

const call = { path: '/test.Test/Call', metadata: { name: 'value' } };

async function serve(server: net.Server | http2.Http2Server): Promise<number> {
  const open = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  const port = await listen(server);
  cleanUps.push(async () => {
    for (const socket of open) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return port;
}

function http2Server(server: http2.Http2Server): http2.Http2Server {
  server.on('session', (session) => session.on('error', () => undefined));
  server.on('sessionError', () => undefined);
  return server;
}

/** Lets the client and the server proceed by this number of event loop rounds. */
async function eventLoopRounds(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describe('a connection attempt that the caller gives up', () => {
  test('throws nothing, at whichever moment it is given up', async () => {
    const port = await serve(http2Server(http2.createServer()));
    const attempt = async (patience: number) => {
      const giveUp = new AbortController();
      const attempted = connect(`http://127.0.0.1:${port}`, giveUp.signal).then(
        (connection) => connection.close(),
        () => 'given up',
      );
      await eventLoopRounds(patience);
      giveUp.abort();
      return attempted;
    };
    const outcomes = new Set<unknown>();
    for (let round = 0; round < 40; round += 1) {
      const attempts = Array.from({ length: 50 }, (_, index) => attempt(index));
      for (const outcome of await Promise.all(attempts)) outcomes.add(outcome);
    }
    await eventLoopRounds(10);
    expect(uncaught).toEqual([]);
    expect(outcomes).toContain('given up');
  });

  test('is given up before it begins', async () => {
    const port = await serve(http2Server(http2.createServer()));
    await expect(connect(`http://127.0.0.1:${port}`, AbortSignal.abort())).rejects.toMatchObject({
      code: 'unavailable',
    });
    await eventLoopRounds(10);
    expect(uncaught).toEqual([]);
  });

  test('throws nothing when the TLS handshake completes afterwards', async () => {
    const { ca, server } = await certificates();
    const target = await serve(http2Server(http2.createSecureServer(server)));
    let held = true;
    let accepted = 0;
    const waiting: (() => void)[] = [];
    // The gate accepts at once and forwards the handshake when it opens.
    const gate = net.createServer((client) => {
      const pass = () => {
        accepted += 1;
        const upstream = net.connect(target, '127.0.0.1');
        upstream.on('error', () => undefined);
        client.pipe(upstream).pipe(client);
        client.on('close', () => upstream.destroy());
      };
      if (held) waiting.push(pass);
      else pass();
    });
    const endpoint = `https://127.0.0.1:${await serve(gate)}`;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const giveUp = new AbortController();
      const attempted = connect(endpoint, giveUp.signal, { ca });
      const given = expect(attempted).rejects.toMatchObject({ code: 'unavailable' });
      await waitFor('the gate to hold a client', () => waiting.length > attempt);
      // Both orders: the handshake completes before and after the client gives up.
      if (attempt % 2 === 0) waiting[attempt]?.();
      giveUp.abort();
      if (attempt % 2 === 1) waiting[attempt]?.();
      await given;
    }
    await eventLoopRounds(20);
    expect(accepted).toBe(20);
    held = false;
    const connection = await connect(endpoint, new AbortController().signal, { ca });
    expect(connection.isUsable).toBe(true);
    connection.close();
    await eventLoopRounds(10);
    expect(uncaught).toEqual([]);
  });
});

/** Failures that a server causes during a client's calls. */
const misdeeds: Readonly<Record<string, (session: http2.ServerHttp2Session) => void>> = {
  'closes the connection': ({ socket }) => socket.destroy(),
  'resets the connection': ({ socket }) => socket.resetAndDestroy(),
  'sends GOAWAY and closes': (session) => session.close(),
  'sends GOAWAY with an error': (session) => session.goaway(http2.constants.NGHTTP2_INTERNAL_ERROR),
  'destroys the session': (session) => session.destroy(),
};

describe('a server that', () => {
  test.each(Object.entries(misdeeds))('%s ends calls with "unavailable"', async (_, misdeed) => {
    const sessions = new Set<http2.ServerHttp2Session>();
    const server = http2Server(http2.createServer());
    server.on('session', (session) => sessions.add(session));
    server.on('stream', (stream) => stream.on('error', () => undefined));
    const endpoint = `http://127.0.0.1:${await serve(server)}`;
    for (let round = 0; round < 10; round += 1) {
      sessions.clear();
      const connection = await connect(endpoint, new AbortController().signal);
      const ended = Promise.withResolvers<unknown>();
      const watch = connection.stream(call, () => undefined, ended.resolve);
      watch.send(Buffer.from('watch'));
      const answer = connection.unary(call, Buffer.from('request'), new AbortController().signal);
      answer.catch(() => undefined);
      await eventLoopRounds(round);
      await waitFor('the session', () => sessions.size > 0);
      for (const session of sessions) misdeed(session);
      await waitFor('the end of the connection', () => !connection.isUsable);
      connection.close();
      await expect(answer).rejects.toMatchObject({ code: 'unavailable' });
      expect(await ended.promise).toMatchObject({ code: 'unavailable' });
      watch.send(Buffer.from('late'));
      watch.close();
      await expect(
        connection.unary(call, Buffer.from('late'), new AbortController().signal),
      ).rejects.toMatchObject({ code: 'unavailable' });
      expect(() =>
        connection.stream(
          call,
          () => undefined,
          () => undefined,
        ),
      ).toThrow('closed');
    }
    await eventLoopRounds(10);
    expect(uncaught).toEqual([]);
  });

  test('refuses connections is reported at once, with the reason', async () => {
    const closed = net.createServer();
    const port = await listen(closed);
    await new Promise((resolve) => closed.close(resolve));
    const endpoint = `http://127.0.0.1:${port}`;
    await expect(connect(endpoint, new AbortController().signal)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(`${endpoint}.*ECONNREFUSED`) as string,
    });
  });

  test('does not speak HTTP/2 is no etcd', async () => {
    const port = await serve(net.createServer((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n')));
    await expect(
      connect(`http://127.0.0.1:${port}`, new AbortController().signal),
    ).rejects.toMatchObject({ code: 'unavailable' });
    await eventLoopRounds(10);
    expect(uncaught).toEqual([]);
  });

  test('does not answer: a call ends with its signal', async () => {
    const port = await serve(http2Server(http2.createServer()));
    const connection = await connect(`http://127.0.0.1:${port}`, new AbortController().signal);
    const giveUp = new AbortController();
    const answer = connection.unary(call, Buffer.from('request'), giveUp.signal);
    giveUp.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    expect(connection.isUsable).toBe(true);
    connection.close();
    await eventLoopRounds(10);
    expect(uncaught).toEqual([]);
  });
});

async function certificates() {
  const directory = await scratchDirectory('grpc');
  cleanUps.push(() => removeDirectory(directory));
  const authority = await makeAuthority(directory);
  const own = await issueCertificate(directory, authority, 'server', '/CN=etcd', 'IP:127.0.0.1');
  const read = (file: string) => fs.readFile(file, 'utf8');
  return {
    ca: await read(authority.certificate),
    server: { cert: await read(own.certificate), key: await read(own.key) },
  };
}
