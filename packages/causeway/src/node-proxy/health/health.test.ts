import { afterEach, describe, expect, it, test } from 'vitest';
import { freePort } from '../../../../../test/services/free-port.ts';
import { parsePort } from '@causeway/base/address/port';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import type { ServedService } from '../served-service.ts';
import { HealthCheckPorts } from './health-check-ports.ts';
import { answerHealth, type NodeHealth } from './node-health.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const patienceMs = 60_000;
const well: NodeHealth = { lastDone: now - 5000, waitingMs: 0, node: { metadata: { name: 'n' } } };
const taint = { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' } as const;

describe('node health', () => {
  test.each<[string, Partial<NodeHealth>, number, number]>([
    ['all rules are written', {}, 200, 200],
    ['a change waits for a short time', { waitingMs: 30_000 }, 200, 200],
    ['a change waits for too long', { waitingMs: 61_000 }, 503, 503],
    ['nothing was ever written', { lastDone: undefined }, 503, 503],
    ['the node is about to be removed', { node: { spec: { taints: [taint] } } }, 503, 200],
    ['the node is being deleted', { node: { metadata: { deletionTimestamp: 'x' } } }, 503, 200],
  ])('%s', (_, change, healthz, livez) => {
    const answer = (path: string) => answerHealth(path, { ...well, ...change }, patienceMs, now);
    expect(answer('/healthz').status).toBe(healthz);
    expect(answer('/livez').status).toBe(livez);
  });

  it('answers with kube-proxy’s fields', () => {
    const { body } = answerHealth('/healthz', well, patienceMs, now);
    expect(JSON.parse(String(body))).toEqual({
      lastUpdated: '2026-03-01T12:00:00.000Z',
      currentTime: '2026-03-01T12:00:00.000Z',
      nodeEligible: true,
    });
    const late = answerHealth('/livez', { ...well, waitingMs: 61_000 }, patienceMs, now);
    expect(JSON.parse(String(late.body))).toMatchObject({
      lastUpdated: '2026-03-01T11:59:55.000Z',
    });
    expect(answerHealth('/', well, patienceMs, now).status).toBe(404);
  });
});

describe('health check ports', () => {
  let stop: () => Promise<void> = () => Promise.resolve();
  afterEach(() => stop());

  function start() {
    let isHealthy = true;
    const options = { isHealthy: () => isHealthy, clock: systemClock, log: discardLog };
    const ports = new HealthCheckPorts(options);
    const abort = new AbortController();
    const running = ports.run(abort.signal);
    stop = async () => {
      abort.abort();
      await running;
    };
    return { ports, setHealthy: (value: boolean) => (isHealthy = value) };
  }

  const served = (service: string, healthCheck: ServedService['healthCheck']): ServedService => ({
    service,
    diversion: undefined,
    targets: [],
    healthCheck,
  });

  const ask = (port: number) => fetch(`http://127.0.0.1:${port}/`);
  const state = (port: number) =>
    ask(port).then(
      ({ status }) => status,
      () => 'closed',
    );
  const until = (port: number, expected: number | string) =>
    expect.poll(() => state(port), { timeout: 120_000 }).toBe(expected);

  it('report the number of local endpoints to load balancers', async () => {
    const { ports, setHealthy } = start();
    const port = parsePort(await freePort());
    ports.committed([served('shop/web', { port, localEndpoints: 2 })]);
    await until(port, 200);
    const found = await ask(port);
    expect(found.status).toBe(200);
    expect(found.headers.get('x-load-balancing-endpoint-weight')).toBe('2');
    expect(await found.json()).toEqual({
      service: { namespace: 'shop', name: 'web' },
      localEndpoints: 2,
      serviceProxyHealthy: true,
    });
    ports.committed([served('shop/web', { port, localEndpoints: 0 })]);
    expect((await ask(port)).status).toBe(503);
    ports.committed([served('shop/web', { port, localEndpoints: 1 })]);
    setHealthy(false);
    expect((await ask(port)).status).toBe(503);
  });

  it('close with their Service, and follow a change of its port', async () => {
    const { ports } = start();
    const [first, second] = [parsePort(await freePort()), parsePort(await freePort())];
    ports.committed([served('shop/web', { port: first, localEndpoints: 1 })]);
    await until(first, 200);
    ports.committed([served('shop/web', { port: second, localEndpoints: 1 })]);
    await until(second, 200);
    await until(first, 'closed');
    ports.committed([served('shop/web', undefined)]);
    await until(second, 'closed');
  });
});
