import { afterEach, beforeEach, expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { mintToken } from '../credential.ts';
import { View } from '../view.ts';
import { startApiServer, type ApiOptions, type ApiServer } from './server.ts';

let server: ApiServer;
let asked: number;

beforeEach(async () => {
  asked = 0;
  const allocator = {
    view: new View(),
    now: 0,
    read: () => {
      asked += 1;
      return Promise.reject(new CausewayError('unauthorized', 'who?'));
    },
  };
  server = await startApiServer({
    allocator,
    clock: systemClock,
    log: discardLog,
    host: '127.0.0.1',
    port: 0,
    rateLimit: { perSecond: 1_000, burst: 1_000 },
    strangerLimit: { perSecond: 0.000_1, burst: 2 },
  } as unknown as ApiOptions);
});

afterEach(() => server.close());

async function call(authorization?: string): Promise<number> {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await fetch(`${server.url}/v1/sites/s/clusters/c/reservations`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

test('rejects unknown callers before it asks the ledger, and counts each call once', async () => {
  const statuses: number[] = [];
  // Each call has a new secret, so a limit by credential has no effect on guessing.
  for (let times = 0; times < 4; times += 1) {
    statuses.push(await call(`Bearer ${mintToken().token}`));
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
  expect(asked).toBe(2);
});

test('limits calls without a credential in the same way', async () => {
  expect([await call(), await call('Bearer nonsense'), await call()]).toEqual([401, 401, 429]);
  expect(asked).toBe(0);
});

const json = { 'content-type': 'application/json' };
const bearer = () => ({ authorization: `Bearer ${mintToken().token}` });

test('a path without a call is answered with 404 before the credential counts', async () => {
  for (const [method, path] of [
    ['GET', '/v1/nothing'],
    ['POST', '/v1/sites'],
    ['GET', '/v1/sites/'],
  ] as const) {
    const answer = await fetch(`${server.url}${path}`, { method });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toMatchObject({ code: 'not-found' });
  }
  expect(await call()).toBe(401);
});

test('the document of the API needs no credential, and HEAD has its headers alone', async () => {
  const document = await fetch(`${server.url}/openapi.json`);
  expect(await document.json()).toMatchObject({ openapi: '3.1.0' });
  const head = await fetch(`${server.url}/openapi.json`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    document.headers.get('content-length'),
    '',
  ]);
});

test.each([
  ['a malformed escape', '/v1/sites/%zz', {}, '{}'],
  ['text that is no JSON', '/v1/sites/s', json, '{'],
  ['an empty JSON text', '/v1/sites/s', json, ''],
  ['another media type', '/v1/sites/s', { 'content-type': 'x/y' }, '{}'],
  ['a key that reaches a prototype', '/v1/sites/s', json, '{"__proto__":{}}'],
  ['a field of another type', '/v1/sites/s', json, '{"reason":1}'],
  ['more than a mebibyte', '/v1/sites/s', json, JSON.stringify({ reason: 'x'.repeat(2 ** 20) })],
])('%s is answered with 400 and the reason', async (_what, path, headers, body) => {
  const answer = await fetch(server.url + path, {
    method: 'PUT',
    headers: { ...headers, ...bearer() },
    body,
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid', message: expect.any(String) });
  expect(asked).toBe(0);
});

test('a part of the path that is too long is answered with 414', async () => {
  const answer = await fetch(`${server.url}/v1/sites/${'x'.repeat(101)}/pools`);
  expect(answer.status).toBe(414);
  expect(await answer.json()).toMatchObject({ code: 'invalid' });
});

test('every answer to a call has the version, and a limited one the time to wait', async () => {
  const answers = [];
  for (let times = 0; times < 3; times += 1) answers.push(await fetch(`${server.url}/v1/sites`));
  expect(answers.map(({ headers }) => headers.get('causeway-ipam-version'))).toEqual([
    '1.0',
    '1.0',
    '1.0',
  ]);
  expect(answers[2]?.status).toBe(429);
  expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
});
