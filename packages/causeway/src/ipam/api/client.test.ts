import http from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '@causeway/base/time/clock';
import { listen } from '@causeway/base/network/listen';
import { IpamClient } from './client.ts';

const { signal } = new AbortController();

/** Waits of any other length end at once and are recorded here. */
let waited: number[];
let answers: { status: number; retryAfter?: string; body?: string; isCut?: boolean }[];
let server: http.Server;
let client: IpamClient;

const limitMs = 20_000;
const clock: Clock = {
  ...systemClock,
  timer(delayMs, callback) {
    if (delayMs === limitMs) return systemClock.timer(delayMs, callback);
    waited.push(delayMs);
    return systemClock.timer(0, callback);
  },
};

beforeEach(async () => {
  waited = [];
  answers = [];
  server = http.createServer((_request, response) => {
    const { status, retryAfter, body, isCut } = answers.shift() ?? { status: 200 };
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.statusCode = status;
    const usual = status === 200 ? { items: [] } : { code: 'unavailable', message: 'no' };
    if (isCut === true) response.write('{"items', () => response.destroy());
    else response.end(body ?? JSON.stringify(usual));
  });
  const port = await listen(server);
  client = new IpamClient({ urls: [`http://127.0.0.1:${port}`], clock, limitMs });
});

afterEach(async () => {
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});

const list = () => client.call('listReservations', { params: { site: 's', cluster: 'c' } }, signal);

test('waits as long as the server says after too many requests, and asks again', async () => {
  answers = [{ status: 429, retryAfter: '2' }];
  expect(await list()).toEqual({ items: [] });
  expect(waited).toEqual([2_000]);
});

test('waits a second if the wait is missing or in another format', async () => {
  answers = [{ status: 429 }];
  await list();
  answers = [{ status: 429, retryAfter: 'Sun, 15 Nov 2026 10:00:00 GMT' }];
  await list();
  expect(waited).toEqual([1_000, 1_000]);
});

test('waits no longer than a call may take, and not after the last attempt', async () => {
  answers = [{ status: 429, retryAfter: '3600' }];
  await expect(list()).rejects.toMatchObject({ code: 'unavailable', message: 'no' });
  answers = [
    { status: 429, retryAfter: '2' },
    { status: 429, retryAfter: '2' },
  ];
  await expect(list()).rejects.toMatchObject({ code: 'unavailable' });
  expect(waited).toEqual([2_000]);
});

test('asks a failing server again at once', async () => {
  answers = [{ status: 503 }];
  expect(await list()).toEqual({ items: [] });
  expect(waited).toEqual([]);
});

test('asks again after an answer that breaks off', async () => {
  answers = [{ status: 200, isCut: true }];
  expect(await list()).toEqual({ items: [] });
});

test('asks the next server when a server stops during a call', async () => {
  answers = [{ status: 503, body: JSON.stringify({ code: 'aborted', message: 'it ends' }) }];
  expect(await list()).toEqual({ items: [] });
});

test.each([
  [404, '<html>default backend</html>'],
  [302, ''],
  [400, '{"error":"no route"}'],
  [200, '<html>log in</html>'],
  [200, '{"items":1}'],
])('treats an answer that is not from an allocator as undecided: %i %s', async (status, body) => {
  answers = [
    { status, body },
    { status, body },
  ];
  await expect(list()).rejects.toMatchObject({ code: 'unavailable' });
  expect(answers).toEqual([]);
});
