import { afterEach, expect, test } from 'vitest';
import { startObservabilityServer, type ObservabilityServer } from './observability-server.ts';
import { PrometheusMetrics } from './prometheus.ts';
import { Readiness } from './readiness.ts';

let server: ObservabilityServer | undefined;
afterEach(() => server?.close());

async function start() {
  const readiness = new Readiness();
  const metrics = new PrometheusMetrics();
  server = await startObservabilityServer({ host: '127.0.0.1', port: 0, metrics, readiness });
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`${server?.url}${path}`, { method });
    return { status: response.status, body: await response.text() };
  };
  return { readiness, metrics, get };
}

test('is ready only if every check passes, and lists the reasons otherwise', async () => {
  const { readiness, get } = await start();
  let problem: string | undefined = 'the list has not arrived';
  readiness.add('services', () => problem);
  readiness.add('leader', () => undefined);
  expect(await get('/readyz')).toEqual({
    status: 503,
    body: '[-] services: the list has not arrived\n[+] leader\nnot ready\n',
  });
  expect((await get('/healthz')).status).toBe(200);
  problem = undefined;
  expect((await get('/readyz')).status).toBe(200);
});

test('stays ready with a degradation, which a strict question counts', async () => {
  const { readiness, get } = await start();
  readiness.add('ledger', () => undefined);
  readiness.addDegradation('writes', () => 'no space');
  const lines = '[+] ledger\n[!] writes: no space\n';
  expect(await get('/readyz')).toEqual({ status: 200, body: `${lines}ready, degraded\n` });
  expect(await get('/readyz?strict')).toEqual({ status: 503, body: `${lines}not ready\n` });
});

test('serves metrics, rejects unknown paths, and accepts only reads', async () => {
  const { metrics, get } = await start();
  metrics
    .counter({ kind: 'counter', name: 'causeway_test_total', help: 'Test.', labels: [] })
    .add({});
  expect((await get('/metrics')).body).toContain('causeway_test_total 1');
  expect((await get('/nothing')).status).toBe(404);
  expect((await get('/metrics', 'DELETE')).status).toBe(405);
});

test('explains that the port is in use', async () => {
  await start();
  const port = Number(new URL(server?.url ?? '').port);
  const second = startObservabilityServer({
    host: '127.0.0.1',
    port,
    metrics: new PrometheusMetrics(),
    readiness: new Readiness(),
  });
  await expect(second).rejects.toThrow(/can't serve health and metrics on 127\.0\.0\.1/);
});
