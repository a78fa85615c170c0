import { describe, expect, it } from 'vitest';
import { FakeKubeApi, answer, failure } from '../../../../test/doubles/fake-kube-api.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import { KubeClient, type KubeClientOptions } from './client.ts';
import { deployments, services } from '../objects/resources.ts';

const web = { namespace: 'default', name: 'web' };

function setUp(options: Partial<KubeClientOptions> = {}) {
  const api = new FakeKubeApi();
  const clock = new SimulatedClock();
  const client = new KubeClient({ transport: api, clock, random: () => 0, ...options });
  return { api, clock, client };
}

/** Answers with each of these in order, then with the API itself. */
function script(
  api: FakeKubeApi,
  ...outcomes: NonNullable<ReturnType<NonNullable<FakeKubeApi['fault']>>>[]
) {
  api.fault = () => outcomes.shift();
}

describe('verbs', () => {
  it('create, get, update, patch and delete', async () => {
    const { api, client } = setUp();
    const created = await client.create(services, { metadata: web, spec: { clusterIP: 'None' } });
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'Service', metadata: web });
    const updated = await client.update(services, { ...created, spec: { clusterIP: '10.0.0.1' } });
    expect(updated.spec?.clusterIP).toBe('10.0.0.1');
    await expect(client.update(services, created)).rejects.toMatchObject({
      code: 'conflict',
      status: 409,
      reason: 'Conflict',
      message: 'update services default/web: Conflict',
    });
    const patched = await client.patchMerge(services, web, { metadata: { labels: { a: 'b' } } });
    expect(patched.metadata?.labels).toEqual({ a: 'b' });
    expect(await client.get(services, web)).toEqual(patched);
    await client.delete(services, web);
    expect(await client.find(services, web)).toBeUndefined();
    await expect(client.get(services, web)).rejects.toMatchObject({ code: 'not-found' });
    expect(api.requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/services',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    });
  });

  it('write their options into the request', async () => {
    const { api, client } = setUp();
    api.fault = () => answer(200, {});
    await client.apply(services, { metadata: web }, { fieldManager: 'us', force: true });
    await client.patchJson(services, web, [{ op: 'remove', path: '/spec/x' }], {
      subresource: 'status',
      dryRun: true,
    });
    await client.delete(services, web, {
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
    });
    await client.setScale(deployments, web, 3);
    await client.getScale(deployments, web);
    const path = '/api/v1/namespaces/default/services/web';
    const scale = '/apis/apps/v1/namespaces/default/deployments/web/scale';
    expect(
      api.requests.map(({ method, path: where, headers, body }) => [
        method,
        where,
        headers['content-type'],
        body === undefined ? undefined : (JSON.parse(body) as unknown),
      ]),
    ).toEqual([
      [
        'PATCH',
        `${path}?fieldManager=us&force=true`,
        'application/apply-patch+yaml',
        { apiVersion: 'v1', kind: 'Service', metadata: web },
      ],
      [
        'PATCH',
        `${path}/status?dryRun=All`,
        'application/json-patch+json',
        [{ op: 'remove', path: '/spec/x' }],
      ],
      [
        'DELETE',
        path,
        'application/json',
        {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: 'u' },
          propagationPolicy: 'Foreground',
          gracePeriodSeconds: 0,
        },
      ],
      ['PATCH', scale, 'application/merge-patch+json', { spec: { replicas: 3 } }],
      ['GET', scale, undefined, undefined],
    ]);
  });

  it('list page by page, with selectors', async () => {
    const { api, client } = setUp();
    for (let index = 0; index < 5; index += 1) {
      api.put('services', { metadata: { namespace: 'default', name: `s${index}` } });
    }
    const names: (string | undefined)[] = [];
    const options = { namespace: 'default', labelSelector: 'a=b,c', pageSize: 2 };
    for await (const object of client.list(services, options)) names.push(object.metadata?.name);
    expect(names).toEqual(['s0', 's1', 's2', 's3', 's4']);
    expect(api.requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/default/services?labelSelector=a%3Db%2Cc&limit=2',
      '/api/v1/namespaces/default/services?labelSelector=a%3Db%2Cc&limit=2&continue=0%3A2',
      '/api/v1/namespaces/default/services?labelSelector=a%3Db%2Cc&limit=2&continue=0%3A4',
    ]);
  });

  it('request smaller pages for large objects', async () => {
    const { api, client } = setUp();
    const large = { note: 'x'.repeat(50_000) };
    for (let index = 0; index < 600; index += 1) {
      api.put('services', { metadata: { namespace: 'n', name: `s${index}`, annotations: large } });
    }
    let count = 0;
    for await (const _ of client.list(services)) count += 1;
    expect(count).toBe(600);
    expect(api.requests[1]?.path).toMatch(/limit=4[0-9]&/);
  });
});

describe('failures', () => {
  it('are repeated for reads', async () => {
    const { api, clock, client } = setUp();
    api.put('services', { metadata: web });
    script(api, new Error('read ECONNRESET'), failure(500, 'InternalError'), failure(503, 'x'));
    const getting = client.get(services, web);
    await clock.advance(5_000);
    expect((await getting).metadata?.name).toBe('web');
    expect(api.requests).toHaveLength(4);
  });

  it('are not repeated for writes, which may have taken effect', async () => {
    const { api, client } = setUp();
    script(api, new Error('read ECONNRESET'));
    await expect(client.create(services, { metadata: web })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'create services default/web: read ECONNRESET',
    });
    expect(api.requests).toHaveLength(1);
  });

  it('are repeated for writes if the server gives a delay', async () => {
    const { api, clock, client } = setUp();
    script(
      api,
      failure(429, 'TooManyRequests', { 'retry-after': '2' }),
      failure(503, 'x', { 'retry-after': '1' }),
    );
    const creating = client.create(services, { metadata: web });
    await clock.advance(1_900);
    expect(api.requests).toHaveLength(1);
    await clock.advance(2_000);
    expect((await creating).metadata?.name).toBe('web');
    expect(api.requests).toHaveLength(3);
  });

  it('end after some attempts', async () => {
    const { api, clock, client } = setUp();
    api.fault = () => failure(500, 'InternalError');
    const getting = client.get(services, web).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await getting).toMatchObject({ status: 500 });
    expect(api.requests).toHaveLength(5);
  });

  it('report the cause if the answer is not JSON', async () => {
    const { api, client } = setUp();
    const html = new TextEncoder().encode('<html>');
    api.fault = () => ({ status: 200, headers: {}, body: ReadableStream.from([html]) });
    await expect(client.create(services, { metadata: web })).rejects.toThrow('is not JSON');
    api.fault = () => ({ status: 404, headers: {}, body: ReadableStream.from([html]) });
    await expect(client.get(services, web)).rejects.toThrow(
      'get services default/web: HTTP status 404',
    );
  });

  it('include a server that never answers, and leave no timer', async () => {
    const { api, clock, client } = setUp();
    api.send = (_, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new DOMException('x', 'AbortError'))),
      );
    const getting = client.get(services, web).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await getting).toMatchObject({
      code: 'timeout',
      message: 'get services default/web took longer than 30000 ms',
    });
    const { signal } = new AbortController();
    const watching = client.watch(services, { signal }).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await watching).toMatchObject({ code: 'timeout' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('include a caller that aborts', async () => {
    const { api, client } = setUp();
    api.fault = () => failure(429, 'TooManyRequests', { 'retry-after': '20' });
    const controller = new AbortController();
    const getting = client.get(services, web, { signal: controller.signal });
    await settled();
    controller.abort();
    await expect(getting).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('lease guard', () => {
  it('is checked before each write and never for reads', async () => {
    const { api, client } = setUp();
    const lost = new CausewayError('aborted', 'we do not lead any more');
    let remaining = 1_000;
    const guarded = client.withLeaseGuard({
      remainingMs: () => {
        if (remaining <= 0) throw lost;
        return remaining;
      },
    });
    const created = await guarded.create(services, { metadata: web });
    remaining = 0;
    await expect(guarded.update(services, created)).rejects.toBe(lost);
    await expect(guarded.delete(services, web)).rejects.toBe(lost);
    expect(await guarded.get(services, web)).toEqual(created);
    expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('is checked again before a write is repeated', async () => {
    const { api, clock, client } = setUp();
    script(api, failure(429, 'TooManyRequests', { 'retry-after': '2' }));
    let allowed = 1;
    const guarded = client.withLeaseGuard({
      remainingMs: () => {
        if (allowed-- <= 0) throw new CausewayError('aborted', 'lost');
        return 10_000;
      },
    });
    const creating = guarded.create(services, { metadata: web }).catch((error: unknown) => error);
    await clock.advance(3_000);
    expect(await creating).toMatchObject({ code: 'aborted', message: 'lost' });
    expect(api.requests).toHaveLength(1);
  });

  it('aborts a write that outlives it', async () => {
    const { api, clock, client } = setUp();
    api.send = (_, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new DOMException('x', 'AbortError'))),
      );
    let until = 500;
    const remainingMs = () => {
      if (clock.monotonic() < until) return until - clock.monotonic();
      throw new CausewayError('aborted', 'lost');
    };
    const guarded = client.withLeaseGuard({ remainingMs });
    let end: unknown;
    void guarded.create(services, { metadata: web }).catch((error: unknown) => (end = error));
    // A lease that is renewed in the meantime lasts longer.
    await clock.advance(400);
    until = 1_500;
    await clock.advance(1_000);
    expect(end).toBeUndefined();
    await clock.advance(100);
    expect(end).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('outlived the lease') as string,
    });
  });
});

describe('rate limit', () => {
  it('allows a burst and then limits the rate', async () => {
    const { api, clock, client } = setUp({ rateLimit: { perSecond: 10, burst: 2 } });
    api.put('services', { metadata: web });
    const all = Promise.all([1, 2, 3, 4].map(() => client.get(services, web)));
    await settled();
    expect(api.requests).toHaveLength(2);
    await clock.advance(100);
    expect(api.requests).toHaveLength(3);
    await clock.advance(100);
    await all;
    expect(api.requests).toHaveLength(4);
  });
});

describe('metrics', () => {
  it('count calls by verb, resource and status', async () => {
    const seen: unknown[] = [];
    const note = (definition: MetricDefinition) => ({
      add: (labels: object) => seen.push([definition.name, labels]),
      set() {},
      remove() {},
      observe: (labels: object) => seen.push([definition.name, labels]),
    });
    const metrics: Metrics = { counter: note, gauge: note, histogram: note };
    const { client } = setUp({ metrics });
    await client.find(services, web);
    expect(seen).toEqual([
      [
        'causeway_kube_request_duration_seconds',
        { verb: 'get', resource: 'services', status: '404' },
      ],
    ]);
  });
});
