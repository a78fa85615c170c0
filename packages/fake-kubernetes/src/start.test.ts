import { Agent, request } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import type { Fault } from './http/faults.ts';
import { type EmbeddedKubernetes, startEmbeddedKubernetes } from './start.ts';

let faults: Fault[] = [];
const stopping: (() => Promise<void>)[] = [];

afterEach(async () => {
  faults = [];
  for (const stop of stopping.splice(0)) await stop();
});

/** Starts a server that applies `faults` to its next requests, and returns a client for it. */
async function start() {
  const server = await startEmbeddedKubernetes({ fault: () => faults.shift() });
  const dispatcher = new Agent({ connect: { ca: server.ca } });
  stopping.push(
    () => dispatcher.destroy(),
    () => server.stop(),
  );
  return { server, call: caller(server, dispatcher), dispatcher };
}

function caller(server: EmbeddedKubernetes, dispatcher: Agent) {
  return async (method: string, path: string, body?: object) => {
    const answer = await request(`${server.url}${path}`, {
      method: method as 'GET',
      dispatcher,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: JSON.parse(text) as unknown,
    };
  };
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const named = (name: string) => ({ metadata: { name } });

describe('startEmbeddedKubernetes', () => {
  test('starts with the initial objects of a cluster', async () => {
    const { call } = await start();
    const { body } = await call('GET', '/api/v1/namespaces/default/services/kubernetes');
    expect(body).toMatchObject({ spec: { clusterIP: '10.96.0.1', ports: [{ port: 443 }] } });
    expect((await call('GET', '/api/v1/namespaces/kube-system')).status).toBe(200);
  });

  test('drops a request before it takes effect', async () => {
    const { call } = await start();
    faults = [{ kind: 'drop-before' }];
    await expect(call('POST', configMaps, named('a'))).rejects.toThrow();
    expect((await call('GET', `${configMaps}/a`)).status).toBe(404);
  });

  test('drops the response after the request takes effect', async () => {
    const { call } = await start();
    faults = [{ kind: 'drop-after' }];
    await expect(call('POST', configMaps, named('a'))).rejects.toThrow();
    expect((await call('GET', `${configMaps}/a`)).status).toBe(200);
  });

  test('rejects a request with a reason and a retry time', async () => {
    const { call } = await start();
    faults = [{ kind: 'refuse', reason: 'TooManyRequests', retryAfterSeconds: 7 }];
    const refused = await call('POST', configMaps, named('a'));
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('7');
    expect(refused.body).toMatchObject({ reason: 'TooManyRequests', code: 429 });
    expect((await call('GET', `${configMaps}/a`)).status).toBe(404);
  });

  test('delays a request, and keeps a hanging request open until the server stops', async () => {
    const { call, server } = await start();
    faults = [{ kind: 'delay', milliseconds: 1 }, { kind: 'hang' }];
    expect((await call('POST', configMaps, named('a'))).status).toBe(201);
    const hanging = expect(call('GET', configMaps)).rejects.toThrow();
    await server.restart();
    await hanging;
  });

  test('keeps its objects, address and credentials across a restart', async () => {
    const { call, server } = await start();
    await call('POST', configMaps, named('a'));
    await server.restart();
    expect((await call('GET', `${configMaps}/a`)).status).toBe(200);
  });

  test('ends and expires watches and closes connections on demand', async () => {
    const { server, dispatcher } = await start();
    const watch = async () => {
      const { body } = await request(
        `${server.url}${configMaps}?watch=true&resourceVersion=${server.cluster.store.version}`,
        {
          dispatcher,
          headers: { authorization: `Bearer ${server.token}` },
        },
      );
      return body;
    };
    const ended = await watch();
    server.endWatches();
    expect(await ended.text()).toBe('');
    const expired = await watch();
    server.expireHistory();
    expect(await expired.text()).toContain('"reason":"Expired"');
    const cut = await watch();
    server.cutConnections();
    await expect(cut.text()).rejects.toThrow();
  });
});
