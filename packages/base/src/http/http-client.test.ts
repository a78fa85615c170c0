import http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as whole from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Agent, ProxyAgent, request } from './http-client.ts';
import { listen } from '../network/listen.ts';

let server: http.Server;
beforeEach(async () => {
  server = http.createServer((asked, answer) => {
    asked.pipe(answer.writeHead(200, { method: asked.method, path: asked.url }));
  });
  await listen(server);
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

test('sends a request with its method and body to the path and the query of its URL', async () => {
  const { port } = server.address() as AddressInfo;
  const dispatcher = new Agent();
  const url = new URL(`http://127.0.0.1:${port}/a/b?c=d`);
  const answer = await request(url, { dispatcher, method: 'POST', body: 'text' });
  expect(answer.headers).toMatchObject({ method: 'POST', path: '/a/b?c=d' });
  expect(await answer.body.text()).toBe('text');
  await dispatcher.close();
});

test('exports the same parts as undici', () => {
  expect(Agent).toBe(whole.Agent);
  expect(ProxyAgent).toBe(whole.ProxyAgent);
});
