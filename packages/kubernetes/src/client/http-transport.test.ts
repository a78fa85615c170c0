import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { listen } from '@causeway/base/network/listen';
import { KubeClient } from './client.ts';
import type { Connection } from './connection.ts';
import type { Credentials, CredentialSource } from '../credentials/credentials.ts';
import { HttpTransport } from './http-transport.ts';
import { services } from '../objects/resources.ts';
import { readBody } from './transport.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function serve(listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener);
  await listen(server);
  cleanUps.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

class Tokens implements CredentialSource {
  refusals = 0;
  current(): Promise<Credentials> {
    return Promise.resolve({ headers: { authorization: `Bearer token-${this.refusals}` } });
  }
  refused(): void {
    this.refusals += 1;
  }
}

function connect(server: string, more: Partial<Connection> = {}) {
  const credentials = new Tokens();
  const connection: Connection = {
    server,
    insecureSkipTlsVerify: false,
    credentials,
    namespace: 'default',
    origin: 'a test',
    ...more,
  };
  const transport = new HttpTransport(connection, systemClock);
  cleanUps.push(() => transport.close());
  return { transport, credentials, client: new KubeClient({ transport, clock: systemClock }) };
}

const get = {
  method: 'GET',
  path: '/api/v1/services?limit=1',
  headers: {},
  isLong: false,
} as const;
const { signal } = new AbortController();

describe('HttpTransport', () => {
  it('sends to the path below the server and presents its credentials', async () => {
    const url = await serve((request, response) => {
      response.end(JSON.stringify([request.method, request.url, request.headers.authorization]));
    });
    const { transport } = connect(`${url}/k8s/clusters/c1`);
    const response = await transport.send(get, signal);
    expect(JSON.parse(await readBody(response.body))).toEqual([
      'GET',
      '/k8s/clusters/c1/api/v1/services?limit=1',
      'Bearer token-0',
    ]);
  });

  it('requests fresh credentials once when they are refused', async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.statusCode = request.headers.authorization === 'Bearer token-1' ? 200 : 401;
      response.end('{}');
    });
    const { transport, credentials } = connect(url);
    expect((await transport.send(get, signal)).status).toBe(200);
    expect(seen).toEqual(['Bearer token-0', 'Bearer token-1']);
    credentials.refusals = 5;
    expect((await transport.send(get, signal)).status).toBe(401);
    expect(seen).toHaveLength(4);
  });

  it('aborts a request at its deadline, also while it waits for a connection', async () => {
    // Accepts connections and never answers: 32 calls use them all.
    const url = await serve(() => {});
    const { transport } = connect(url);
    const giveUp = new AbortController();
    const others = Array.from({ length: 32 }, () => transport.send(get, giveUp.signal));
    const limited = new AbortController();
    const waiting = transport.send(get, limited.signal);
    // The earlier calls have requested their connections.
    await new Promise((resolve) => setImmediate(resolve));
    limited.abort(new Error('too late'));
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    giveUp.abort();
    for (const other of others) await expect(other).rejects.toThrow();
  });

  it('reuses connections for calls and opens one for each watch', async () => {
    const ports: number[] = [];
    const url = await serve((request, response) => {
      ports.push(request.socket.remotePort ?? 0);
      if (request.url?.includes('watch') === true) response.write('\n');
      else response.end('{}');
    });
    const { transport } = connect(url);
    for (let index = 0; index < 8; index += 1)
      await readBody((await transport.send(get, signal)).body);
    const controller = new AbortController();
    const watch = { ...get, path: '/watch', isLong: true };
    await transport.send(watch, controller.signal);
    await transport.send(watch, controller.signal);
    controller.abort();
    // An answer is read slightly before its connection is free again, so two may alternate.
    expect(new Set(ports.slice(0, 8)).size).toBeLessThanOrEqual(2);
    expect(new Set(ports.slice(8)).size).toBe(2);
    expect(ports.slice(0, 8)).not.toContain(ports[8]);
  });

  it('goes through a proxy', async () => {
    const proxied: (string | undefined)[] = [];
    const proxyUrl = await serve((request, response) => {
      proxied.push(request.url);
      response.end('{}');
    });
    const { transport } = connect('http://api.example:8080', { proxyUrl });
    await readBody((await transport.send(get, signal)).body);
    expect(proxied).toEqual(['http://api.example:8080/api/v1/services?limit=1']);
  });

  it('gives a hint when there is no answer', async () => {
    const { client } = connect('http://127.0.0.1:9');
    await expect(
      client.get(services, { namespace: 'a', name: 'b' }, { retries: false }),
    ).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('watches over sockets', () => {
  const event = (name: string) =>
    `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;

  async function namesUntilTheEnd(url: string, idleTimeoutMs = 30_000) {
    const { client } = connect(url);
    const names: (string | undefined)[] = [];
    let error: unknown;
    try {
      const stream = await client.watch(services, { signal, idleTimeoutMs: () => idleTimeoutMs });
      for await (const events of stream) {
        names.push(...events.map(({ object }) => object.metadata?.name));
      }
    } catch (thrown) {
      error = thrown;
    }
    return { names, error };
  }

  it('assemble events from any split of the bytes', async () => {
    const url = await serve((_, response) => {
      const bytes = Buffer.from(event('grüße-🌍') + event('two') + event('three'));
      const pieces = [bytes.subarray(0, 46), bytes.subarray(46, 48), bytes.subarray(48)];
      const write = () => {
        const piece = pieces.shift();
        if (piece === undefined) response.end();
        else response.write(piece, () => setImmediate(write));
      };
      write();
    });
    expect(await namesUntilTheEnd(url)).toEqual({
      names: ['grüße-🌍', 'two', 'three'],
      error: undefined,
    });
  });

  it('deliver many small chunks in order, and make the server wait for a slow reader', async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `${index}-${'x'.repeat(1_000)}`);
    const url = await serve((_, response) => {
      for (const name of names) response.write(event(name));
      response.end();
    });
    expect(await namesUntilTheEnd(url)).toEqual({ names, error: undefined });
  });

  it('end immediately when the caller aborts, before and after the answer', async () => {
    const url = await serve((request, response) => {
      if (request.url?.includes('answer') === true) response.write(event('one'));
    });
    const { client } = connect(url);
    const controller = new AbortController();
    const open = client
      .watch(services, { signal: controller.signal })
      .catch((error: unknown) => error);
    const options = { signal: controller.signal, labelSelector: 'answer' };
    const stream = await client.watch(services, options);
    expect(await stream.next()).toMatchObject({ value: [{ type: 'ADDED' }] });
    const next = stream.next().catch((error: unknown) => error);
    controller.abort();
    expect(await open).toMatchObject({ code: 'aborted' });
    expect(await next).toMatchObject({ code: 'aborted' });
  });

  it('fail when the connection breaks, after the earlier events were delivered', async () => {
    const url = await serve((_, response) => {
      response.write(event('one') + '{"type":"ADDED"', () => response.destroy());
    });
    const { names, error } = await namesUntilTheEnd(url);
    expect(names).toEqual(['one']);
    expect(error).toMatchObject({ code: 'unavailable' });
  });

  it('fail when the connection is idle for too long', async () => {
    const url = await serve((_, response) => response.write(event('one')));
    const { names, error } = await namesUntilTheEnd(url, 100);
    expect(names).toEqual(['one']);
    expect(error).toMatchObject({ code: 'timeout' });
  });

  it('close the connection when the reader stops', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await serve((request, response) => {
      request.on('close', () => closed.resolve());
      response.write(event('one'));
    });
    const { client } = connect(url);
    for await (const _ of await client.watch(services, { signal })) break;
    await closed.promise;
  });
});
