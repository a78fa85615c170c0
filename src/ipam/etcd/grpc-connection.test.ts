import http2 from 'node:http2';
import fs from 'node:fs/promises';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { issueCertificate, makeAuthority } from '../../../test/services/certificates.ts';
import { removeDirectory, scratchDirectory } from '../../../test/services/scratch.ts';
import { waitFor } from '../../../test/services/wait-for.ts';
import { systemClock } from '../../runtime/clock.ts';
import { GrpcConnection, type TlsFiles } from './grpc-connection.ts';

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
  GrpcConnection.connect(endpoint, tls, systemClock, signal);

async function listen(server: net.Server | http2.Http2Server): Promise<number> {
  const open = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(async () => {
    for (const socket of open) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return (server.address() as net.AddressInfo).port;
}

function http2Server(server: http2.Http2Server): http2.Http2Server {
  server.on('session', (session) => session.on('error', () => undefined));
  server.on('sessionError', () => undefined);
  return server;
}

/** Lets the client and the server get further by this many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describe('a connection attempt that the caller gives up', () => {
  test('throws nothing, at whichever moment it is given up', async () => {
    const port = await listen(http2Server(http2.createServer()));
    const outcomes = new Set<string>();
    for (let attempt = 0; attempt < 3_000; attempt += 1) {
      const giveUp = new AbortController();
      const attempted = connect(`http://127.0.0.1:${port}`, giveUp.signal).then(
        (connection) => {
          connection.close();
          return 'connected';
        },
        () => 'given up',
      );
      await turns(attempt % 6);
      giveUp.abort();
      outcomes.add(await attempted);
    }
    await turns(10);
    expect(uncaught).toEqual([]);
    expect([...outcomes].sort()).toEqual(['connected', 'given up']);
  });

  test('is given up before it begins', async () => {
    const port = await listen(http2Server(http2.createServer()));
    await expect(connect(`http://127.0.0.1:${port}`, AbortSignal.abort())).rejects.toMatchObject({
      code: 'unavailable',
    });
    await turns(10);
    expect(uncaught).toEqual([]);
  });

  test('throws nothing when the TLS handshake completes afterwards', async () => {
    const { ca, server } = await certificates();
    const target = await listen(http2Server(http2.createSecureServer(server)));
    let held = true;
    let accepted = 0;
    const waiting: (() => void)[] = [];
    // The gate accepts at once and passes the handshake on when it opens.
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
    const endpoint = `https://127.0.0.1:${await listen(gate)}`;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const giveUp = new AbortController();
      const attempted = connect(endpoint, giveUp.signal, { ca });
      const given = expect(attempted).rejects.toMatchObject({ code: 'unavailable' });
      await waitFor('the gate to hold a client', () => waiting.length > attempt);
      // Both orders: the handshake is let through before and after the client gives up.
      if (attempt % 2 === 0) waiting[attempt]?.();
      giveUp.abort();
      if (attempt % 2 === 1) waiting[attempt]?.();
      await given;
    }
    await turns(20);
    expect(accepted).toBe(20);
    held = false;
    const connection = await connect(endpoint, new AbortController().signal, { ca });
    expect(connection.isUsable).toBe(true);
    connection.close();
    await turns(10);
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
