import http from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RowStore } from '../overview/row-store.ts';
import { discardLog } from '@causeway/base/observability/log';
import { startDashboard, type DashboardServer } from './server.ts';

/** With a character that ends a cookie, and an invalid escape. */
const token = 'the right; token=%';
const assets = new Map([['/', { type: 'text/html', body: Buffer.from('<p>hello') }]]);
let server: DashboardServer;

beforeEach(async () => {
  server = await startDashboard({
    host: '127.0.0.1',
    port: 0,
    token,
    rowStore: new RowStore(),
    assets,
    log: discardLog,
    findPath: () => Promise.reject(new Error('secret detail')),
  });
});
afterEach(async () => {
  await server.close();
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(new URL(path, server.url), { headers, method, redirect: 'manual' });
const bearer = { authorization: `Bearer ${token}` };

test.each([
  ['no token', '/', {}],
  ['a wrong one', '/', { authorization: 'Bearer wrong' }],
  ['a part of it', '/api/rows', { authorization: `Bearer ${token.slice(1)}` }],
  ['a wrong cookie', '/api/path?service=a/b', { cookie: 'causeway-dashboard=x' }],
  ['a cookie that nobody gave', '/', { cookie: 'causeway-dashboard=%' }],
  ['an empty one', '/?token=', {}],
])('rejects %s', async (_name, path, headers) => {
  const response = await get(path, headers);
  expect(response.status).toBe(401);
  expect(await response.text()).not.toContain('hello');
});

test("moves the token from the URL into a cookie that scripts can't read", async () => {
  const response = await get(`/?token=${encodeURIComponent(token)}`);
  expect(response.status).toBe(303);
  expect(response.headers.get('location')).toBe('/');
  expect(response.headers.get('set-cookie')).toContain('HttpOnly; SameSite=Strict');
  const [given] = (response.headers.get('set-cookie') ?? '').split(';');
  const page = await get('/', { cookie: `a=b; ${given}` });
  expect(await page.text()).toBe('<p>hello');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
});

test.each(['/.//evil.example/', '//evil.example/', '/./..//evil.example'])(
  'the redirect from %s with the token leads to no other machine',
  async (path) => {
    const { hostname, port } = new URL(server.url);
    const asked = { path: `${path}?token=${encodeURIComponent(token)}`, hostname, port };
    const location = await new Promise((resolve, reject) => {
      http
        .get(asked, (response) => {
          response.resume();
          resolve(response.headers.location);
        })
        .on('error', reject);
    });
    expect(location).toMatch(/^\/(?!\/)/);
  },
);

test('rejects methods that change data', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    expect((await get('/', bearer, method)).status).toBe(405);
  }
});

test('answers 404 for unknown pages, and failures without details', async () => {
  expect((await get('/../../package.json', bearer)).status).toBe(404);
  const failed = await get('/api/path?service=a/b', bearer);
  expect(failed.status).toBe(500);
  expect(await failed.text()).not.toContain('secret');
});

test.each([
  ['*', 401],
  ['127.0.0.1', undefined],
])('listening on %s, it answers at another address of the machine', async (host, status) => {
  const other = await startDashboard({
    host,
    port: 0,
    token,
    rowStore: new RowStore(),
    assets,
    log: discardLog,
    findPath: () => Promise.resolve(undefined),
  });
  const { port } = new URL(other.url);
  const here = await fetch(`http://127.0.0.1:${port}/`);
  expect(here.status).toBe(401);
  const there = await fetch(`http://127.0.0.2:${port}/`).catch(() => undefined);
  expect(there?.status).toBe(status);
  await other.close();
});
