import { describe, expect, it } from 'vitest';
import { FakeKubeApi, eventLine, failure } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import { KubeClient } from '../client/client.ts';
import type { Service } from '../objects/core-objects.ts';
import { withSlimMetadata } from './projection.ts';
import { Reflector } from './reflector.ts';
import { services } from '../objects/resources.ts';
import { Store } from './store.ts';

function service(name: string, clusterIP = '10.0.0.1'): Service {
  return { metadata: { namespace: 'default', name }, spec: { clusterIP } };
}

function setUp(prepare: (api: FakeKubeApi) => void = () => {}) {
  const api = new FakeKubeApi();
  prepare(api);
  const clock = new SimulatedClock();
  const random = () => 0;
  const client = new KubeClient({ transport: api, clock, random });
  const store = new Store<Service>();
  const seen: string[] = [];
  store.onChange((change) => seen.push(`${change.type} ${change.key}`));
  const reflector = new Reflector({
    client,
    resource: services,
    store,
    projection: withSlimMetadata,
    clock,
    log: discardLog,
    metrics: noMetrics,
    random,
  });
  const controller = new AbortController();
  const running = reflector.run(controller.signal);
  return {
    api,
    clock,
    store,
    seen,
    reflector,
    /** The changes that the handlers received since the last call. */
    changes: async () => {
      await settled();
      return seen.splice(0);
    },
    async stop() {
      controller.abort();
      await running;
      expect(clock.pendingTimers).toBe(0);
    },
    watchRequests: () => api.requests.filter(({ path }) => path.includes('watch=true')),
  };
}

const two = (api: FakeKubeApi) => {
  api.put('services', service('a'));
  api.put('services', service('b'));
};

describe('Reflector', () => {
  it('loads by one streamed list and follows changes on the same stream', async () => {
    const it = setUp(two);
    expect(await it.changes()).toEqual(['added default/a', 'added default/b']);
    expect(it.store.isSynced).toBe(true);
    it.api.put('services', service('a', '10.0.0.2'));
    it.api.put('services', service('c'));
    it.api.remove('services', 'default', 'b');
    expect(await it.changes()).toEqual([
      'updated default/a',
      'added default/c',
      'deleted default/b',
    ]);
    expect(it.api.requests).toHaveLength(1);
    expect(it.reflector.readiness()).toBeUndefined();
    await it.stop();
    expect(it.reflector.state).toBe('stopped');
  });

  it('asks for bookmarks and resumes from the last one when the server ends the watch', async () => {
    const it = setUp(two);
    await it.changes();
    it.api.revision = 500;
    it.api.bookmark();
    await it.clock.advance(2_000);
    it.api.endWatches();
    it.api.put('services', service('c'));
    expect(await it.changes()).toEqual(['added default/c']);
    expect(it.watchRequests().at(-1)?.path).toContain('allowWatchBookmarks=true');
    expect(it.watchRequests().at(-1)?.path).toContain('resourceVersion=500');
    await it.stop();
  });

  it("falls back to pages where lists can't be streamed, and keeps doing so", async () => {
    const it = setUp((api) => {
      api.streamedLists = 'refused';
      for (let index = 0; index < 1001; index += 1) api.put('services', service(`s${index}`));
    });
    await it.clock.advance(1_000);
    expect(it.store.size).toBe(1001);
    const lists = () => it.api.requests.filter(({ path }) => path.includes('limit='));
    expect(lists()).toHaveLength(3);
    // The watch must not receive the change, otherwise no second list would be needed.
    it.api.freezeWatches();
    it.api.put('services', service('new'));
    it.api.compact();
    it.api.cutWatches();
    await it.clock.advance(100_000);
    expect(it.store.size).toBe(1002);
    expect(lists().length).toBeGreaterThanOrEqual(6);
    expect(it.watchRequests().filter(({ path }) => path.includes('sendInitial'))).toHaveLength(1);
    await it.stop();
  });

  it('falls back to pages if the server never completes the streamed list', async () => {
    const it = setUp((api) => {
      two(api);
      api.streamedLists = 'ignored';
    });
    await it.clock.advance(9_000);
    expect(it.store.isSynced).toBe(false);
    await it.clock.advance(2_000);
    expect(it.store.size).toBe(2);
    await it.stop();
  });

  it.each(['status', 'event'] as const)(
    'lists again as a difference when history is gone, signaled by a %s',
    async (goneAs) => {
      const it = setUp(two);
      await it.changes();
      it.api.goneAs = goneAs;
      it.api.freezeWatches();
      it.api.remove('services', 'default', 'a');
      it.api.put('services', service('c'));
      it.api.put('services', service('b', '10.0.0.9'));
      it.api.compact();
      expect(await it.changes()).toEqual([]);
      await it.clock.advance(95_000);
      expect(await it.changes()).toEqual([
        'deleted default/a',
        'updated default/b',
        'added default/c',
      ]);
      await it.stop();
    },
  );

  it('detects a half-open connection by its idle timeout, and misses nothing', async () => {
    const it = setUp(two);
    await it.changes();
    it.api.freezeWatches();
    it.api.put('services', service('c'));
    await it.clock.advance(60_000);
    expect(await it.changes()).toEqual([]);
    await it.clock.advance(31_000);
    expect(await it.changes()).toEqual(['added default/c']);
    await it.stop();
  });

  it('is kept alive by bookmarks', async () => {
    const it = setUp(two);
    for (let minute = 0; minute < 5; minute += 1) {
      await it.clock.advance(60_000);
      it.api.bookmark();
    }
    expect(it.watchRequests()).toHaveLength(1);
    await it.stop();
  });

  it('ignores a truncated line, and resumes', async () => {
    const it = setUp(two);
    await it.changes();
    it.api.cutWatches(eventLine('ADDED', service('half')).slice(0, 30));
    it.api.put('services', service('c'));
    await it.clock.advance(1_000);
    expect(await it.changes()).toEqual(['added default/c']);
    await it.stop();
  });

  it('treats a watch that ends inside a line as interrupted', async () => {
    const it = setUp(two);
    await it.changes();
    it.api.say('{"type":"ADD');
    it.api.endWatches();
    await settled();
    expect(it.reflector.state).toBe('waiting');
    await it.stop();
  });

  it('delivers the events before an error in the stream', async () => {
    const it = setUp(two);
    await it.changes();
    const error = { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' };
    it.api.put('services', service('c'));
    it.api.say(eventLine('ERROR', error));
    expect(await it.changes()).toEqual(['added default/c']);
    it.api.put('services', service('d'));
    await it.clock.advance(1_000);
    expect(await it.changes()).toEqual(['added default/d']);
    await it.stop();
  });

  it('delivers nothing twice when the server repeats events, and restores no deleted object', async () => {
    const it = setUp(two);
    it.api.put('services', service('c'));
    it.api.put('services', service('c', '10.0.0.7'));
    it.api.remove('services', 'default', 'c');
    await it.changes();
    it.api.echo(5);
    expect(await it.changes()).toEqual([]);
    expect(it.store.get('default/c')).toBeUndefined();
    await it.stop();
  });

  it('keeps trying through an outage, reports it, and recovers', async () => {
    const it = setUp(two);
    await it.changes();
    it.api.fault = () => new Error('connect ECONNREFUSED');
    it.api.cutWatches();
    await it.clock.advance(50_000);
    expect(it.reflector.readiness()).toBeUndefined();
    await it.clock.advance(20_000);
    expect(it.reflector.readiness()).toMatch(
      /^services have not been watched for 70 s: .*ECONNREFUSED/,
    );
    const tries = it.api.requests.length;
    expect(tries).toBeLessThan(20);
    it.api.put('services', service('c'));
    it.api.fault = undefined;
    await it.clock.advance(30_000);
    expect(await it.changes()).toEqual(['added default/c']);
    expect(it.reflector.readiness()).toBeUndefined();
    await it.stop();
  });

  it('waits as long as the server demands', async () => {
    const it = setUp((api) => {
      two(api);
      api.fault = () => failure(429, 'TooManyRequests', { 'retry-after': '20' });
    });
    await it.clock.advance(19_900);
    expect(it.api.requests).toHaveLength(1);
    expect(it.reflector.readiness()).toMatch(/not loaded yet: .*TooManyRequests/);
    it.api.fault = undefined;
    await it.clock.advance(200);
    expect(it.store.isSynced).toBe(true);
    await it.stop();
  });

  it('starts over when the server returns with an older state', async () => {
    const it = setUp(two);
    const backup = new Map(it.api.objects);
    const { revision } = it.api;
    await it.changes();
    it.api.put('services', service('c'));
    it.api.put('services', service('a', '10.0.0.5'));
    expect(await it.changes()).toEqual(['added default/c', 'updated default/a']);
    it.api.restore(backup, revision);
    await it.clock.advance(1_000);
    expect(await it.changes()).toEqual(['deleted default/c', 'updated default/a']);
    it.api.put('services', service('d'));
    expect(await it.changes()).toEqual(['added default/d']);
    await it.stop();
  });

  it('treats a bookmark with an older version as lost history', async () => {
    const it = setUp(two);
    await it.changes();
    it.api.say(eventLine('BOOKMARK', { metadata: { resourceVersion: '50' } }));
    await it.clock.advance(1_000);
    expect(it.watchRequests().filter(({ path }) => path.includes('sendInitial'))).toHaveLength(2);
    expect(await it.changes()).toEqual([]);
    await it.stop();
  });

  it('backs off when a server ends each watch immediately', async () => {
    const it = setUp((api) => {
      two(api);
      api.fault = ({ path }) => {
        if (!path.includes('resourceVersion=')) return undefined;
        return { status: 200, headers: {}, body: empty() };
      };
    });
    await it.changes();
    it.api.endWatches();
    await it.clock.advance(60_000);
    expect(it.watchRequests().length).toBeLessThan(12);
    await it.stop();
  });

  it('backs off when a server sends one event with each watch, and then ends or expires it', async () => {
    for (const end of ['end', 'expire']) {
      const it = setUp(two);
      await it.changes();
      let version = 1_000;
      const gone = eventLine('ERROR', { kind: 'Status', code: 410 } as object);
      it.api.fault = ({ path }) => {
        if (!path.includes('watch=true')) return undefined;
        version += 1;
        it.api.revision = version;
        const metadata = {
          resourceVersion: String(version),
          annotations: { 'k8s.io/initial-events-end': 'true' },
        };
        const text = eventLine('BOOKMARK', { metadata }) + (end === 'end' ? '' : gone);
        return {
          status: 200,
          headers: {},
          body: ReadableStream.from([new TextEncoder().encode(text)]),
        };
      };
      it.api.endWatches();
      await it.clock.advance(10_000);
      expect(it.watchRequests().length).toBeLessThan(60);
      await it.stop();
    }
  });

  it('does not list in a tight loop when history is lost repeatedly', async () => {
    const it = setUp((api) => {
      two(api);
      api.fault = ({ path }) =>
        path.includes('sendInitial') ? failure(410, 'Expired') : undefined;
    });
    await it.clock.advance(60_000);
    expect(it.api.requests.length).toBeLessThan(12);
    it.api.fault = undefined;
    await it.clock.advance(31_000);
    expect(it.store.isSynced).toBe(true);
    await it.stop();
  });
});

async function* empty(): AsyncGenerator<Uint8Array> {}
