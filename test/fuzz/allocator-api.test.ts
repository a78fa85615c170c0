import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from 'undici';
import { operations } from '../../packages/causeway/src/ipam/api/operations.ts';
import { startServer, type ServerUnderTest } from '../contract/ipam/server-under-test.ts';
import { hostileJson, hostileText, nearly } from './hostile.ts';

// A client with an operator's credential sends anything to every call.

let server: ServerUnderTest;
const dispatcher = new Agent({ connections: 4 });
beforeAll(async () => {
  server = await startServer();
  const params = { site: 'edge' };
  const { signal } = new AbortController();
  await server.operator.call('setSite', { params, body: {} }, signal);
  const pool = { addresses: ['192.0.2.0/28'] };
  await server.operator.call('setPool', { params: { ...params, pool: 'p' }, body: pool }, signal);
  await server.operator.call('createCluster', { params, body: { cluster: 'blue' } }, signal);
});
afterAll(async () => {
  await dispatcher.close();
  await server.stop();
});

const valid = {
  uid: 'u',
  namespace: 'shop',
  name: 'web',
  families: [4],
  ports: ['TCP/80'],
  waitMs: 0,
  addresses: ['192.0.2.3'],
  cluster: 'green',
  quota: 5,
  drained: false,
  reason: 'x',
  selfWithdrawal: { afterMs: 60_000, graceMs: 30_000 },
  sharingKey: 'k',
  as: 'moved',
};
/** Waiting is allowed, but would make the test slow. */
const impatient = (body: unknown) =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, waitMs: 0 } : body;
const segment = fc.oneof(fc.constantFrom('edge', 'blue', 'p', 'u'), hostileText);
const call = fc.record({
  operation: fc.constantFrom(...Object.values(operations)),
  segments: fc.array(segment, { minLength: 4, maxLength: 4 }),
  query: fc.dictionary(
    fc.oneof(fc.constantFrom('fencingToken', 'fence', 'withdrawn', 'limit'), hostileText),
    hostileText,
    {
      maxKeys: 2,
    },
  ),
  body: fc.oneof(hostileJson, nearly(valid)).map(impatient),
});

test("an operator's request succeeds or is rejected with a message, without an internal error", async () => {
  await fc.assert(
    fc.asyncProperty(call, async ({ operation, segments, query, body }) => {
      let index = 0;
      const path = operation.path.replaceAll(/\{\w+\}/g, () => {
        index += 1;
        return encodeURIComponent((segments[index - 1] ?? '').toWellFormed()) || '-';
      });
      const search = new URLSearchParams(
        Object.entries(query).map(([key, value]) => [key.toWellFormed(), value.toWellFormed()]),
      );
      const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE';
      const answer = await dispatcher.request({
        origin: server.replica.url,
        path: `${path}?${search.toString()}`,
        method: operation.method,
        headers: {
          authorization: `Bearer ${server.operatorToken}`,
          ...(hasBody ? { 'content-type': 'application/json' } : {}),
        },
        ...(hasBody ? { body: JSON.stringify(body) ?? '' } : {}),
      });
      const text = await answer.body.text();
      expect(answer.statusCode, `${operation.method} ${path} ${text}`).not.toBe(500);
      expect(text).not.toMatch(/ at .*\.ts:|node_modules/);
      expect(text).not.toContain(server.operatorToken);
    }),
    { numRuns: 200 },
  );
});
