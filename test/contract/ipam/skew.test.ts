import http from 'node:http';
import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from 'undici';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { openApiDocument } from '../../../packages/causeway/src/ipam/api/openapi.ts';
import { keys } from '../../../packages/causeway/src/ipam/keys.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { listen } from '../../../packages/base/src/network/listen.ts';
import { never, startServer, type ServerUnderTest } from './server-under-test.ts';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await startServer();
  const call = server.operator.call.bind(server.operator);
  await call('setSite', { params: { site: 'edge' }, body: {} }, never);
  const body = { addresses: ['192.0.2.0/24'] };
  await call('setPool', { params: { site: 'edge', pool: 'p' }, body }, never);
  await call('createCluster', { params: { site: 'edge' }, body: { cluster: 'blue' } }, never);
});
afterAll(() => server.stop());
const params = { site: 'edge', cluster: 'blue' };

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}
interface Described {
  readonly parameters: readonly { name: string; required: boolean }[];
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: { 200: { content: { 'application/json': { schema: Schema } } } };
}
type Document = { paths: Record<string, Record<string, Described>> };

/** The paths of all fields of a schema, and of the required ones. */
function fieldsOf(schema: Schema | undefined, prefix = ''): { all: string[]; required: string[] } {
  const fields = { all: [] as string[], required: [] as string[] };
  for (const [name, child] of Object.entries(schema?.properties ?? {})) {
    const at = `${prefix}.${name}`;
    fields.all.push(at);
    const isRequired = schema?.required?.includes(name) === true;
    if (isRequired) fields.required.push(at);
    for (const inner of [fieldsOf(child, at), fieldsOf(child.items, `${at}[]`)]) {
      fields.all.push(...inner.all);
      // A required field of an optional object is optional.
      if (isRequired) fields.required.push(...inner.required);
    }
  }
  return fields;
}

describe('the API as it was in 1.0', () => {
  test('is still there: nothing is removed, nothing more is required', async () => {
    const file = path.join(import.meta.dirname, 'openapi-1.0.json');
    const before = JSON.parse(await fs.readFile(file, 'utf8')) as Document;
    const now = openApiDocument() as unknown as Document;
    for (const [at, methods] of Object.entries(before.paths)) {
      for (const [method, old] of Object.entries(methods)) {
        const current = now.paths[at]?.[method];
        if (current === undefined) throw new Error(`${method} ${at} is gone`);
        const body = (described: Described) =>
          fieldsOf(described.requestBody?.content['application/json'].schema);
        const answer = (described: Described) =>
          fieldsOf(described.responses[200].content['application/json'].schema);
        // An old client's requests are accepted: every field is known, and no new one is required.
        expect(body(current).all).toEqual(expect.arrayContaining(body(old).all));
        expect(body(old).required).toEqual(expect.arrayContaining(body(current).required));
        // An old client finds all its fields in the answers; a new one requires no more of an old server.
        expect(answer(current).all).toEqual(expect.arrayContaining(answer(old).all));
        expect(answer(current).required.toSorted()).toEqual(answer(old).required.toSorted());
      }
    }
  });
});

describe('one version apart', () => {
  test('a newer client is served: unknown fields are ignored', async () => {
    const answer = await request(
      new URL('/v1/sites/edge/clusters/blue/reservations', server.replica.url),
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.operatorToken}`,
          'content-type': 'application/json',
          'causeway-ipam-version': '1.1',
        },
        body: JSON.stringify({ uid: 'newer', colour: 'red', nested: { deep: true } }),
      },
    );
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['causeway-ipam-version']).toBe('1.0');
    expect(await answer.body.json()).toMatchObject({ state: 'held' });
  });

  test('a fencing token under its old name is refused, and releases nothing', async () => {
    const at = (path: string) =>
      new URL(`/v1/sites/edge/clusters/blue/${path}`, server.replica.url);
    const authorization = `Bearer ${server.operatorToken}`;
    const headers = { authorization };
    const withBody = { authorization, 'content-type': 'application/json' };
    const reserved = await request(at('reservations'), {
      method: 'POST',
      headers: withBody,
      body: JSON.stringify({ uid: 'older' }),
    });
    expect(reserved.statusCode).toBe(200);
    await reserved.body.dump();
    const body = JSON.stringify({ fence: 1 });
    for (const answer of [
      await request(at('reservations/older?fence=1'), { method: 'DELETE', headers }),
      await request(at('load-balancers/older?fence=1'), { method: 'DELETE', headers }),
      await request(at('load-balancers/older'), { method: 'PATCH', headers: withBody, body }),
    ]) {
      expect(answer.statusCode).toBe(400);
      expect(await answer.body.text()).toContain('the field fence is now fencingToken');
    }
    const listed = await request(at('reservations'), { headers });
    expect(await listed.body.text()).toContain('"older"');
  });

  test('a newer server is understood: more fields, unknown reasons and codes', async () => {
    const newer = await startNewerServer();
    const client = new IpamClient({ urls: [newer.url], clock: systemClock });
    const reserve = (uid: string) => client.call('reserve', { params, body: { uid } }, never);
    expect(await reserve('fine')).toMatchObject({ state: 'held', colour: 'red' });
    await expect(reserve('new-reason')).rejects.toMatchObject({
      code: 'exhausted',
      message: 'for a reason of tomorrow',
    });
    await expect(reserve('new-code')).rejects.toMatchObject({ code: 'invalid' });
    await client.close();
    await newer.close();
  });

  test('a replica keeps the fields that a newer one wrote', async () => {
    const { ledger, view } = server.replica.allocator;
    const key = keys.cluster('edge', 'blue');
    const cluster = view.site('edge')?.clusters.get('blue');
    const newer = { ...cluster?.record, colour: 'red' };
    const writes = [
      { key, value: JSON.stringify(newer) },
      { key: 'state/rainbow/edge/x', value: '{"of":"a kind of tomorrow"}' },
    ];
    await ledger.commit({ conditions: [], writes }, never);
    await server.operator.call('reserve', { params, body: { uid: 'after' } }, never);
    const { entries } = await ledger.load(key, never);
    expect(JSON.parse(entries[0]?.value ?? '{}')).toMatchObject({ colour: 'red' });
  });
});

/** Answers like a server of the next version. */
async function startNewerServer(): Promise<{ url: string; close(): Promise<void> }> {
  const reservation = {
    ...params,
    uid: 'fine',
    purpose: 'load-balancer',
    fencingToken: 1,
    since: 1,
    colour: 'red',
    addresses: [{ address: '192.0.2.9', family: 4, pool: 'p', colour: 'red' }],
  };
  const answers: Record<string, [number, object]> = {
    fine: [200, { state: 'held', reservation, colour: 'red' }],
    'new-reason': [
      507,
      { code: 'exhausted', reason: 'tomorrow', message: 'for a reason of tomorrow', colour: 'red' },
    ],
    'new-code': [418, { code: 'teapot', message: 'short and stout' }],
  };
  const newer = http.createServer((incoming, outgoing) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
    incoming.on('end', () => {
      const { uid } = JSON.parse(text) as { uid: string };
      const [status, body] = answers[uid] ?? [500, {}];
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  const port = await listen(newer);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => newer.close(() => resolve())),
  };
}
