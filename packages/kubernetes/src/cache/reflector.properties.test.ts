import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeKubeApi, eventLine, failure } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import { KubeClient } from '../client/client.ts';
import type { Service } from '../objects/core-objects.ts';
import { withSlimMetadata } from './projection.ts';
import { Reflector } from './reflector.ts';
import { services } from '../objects/resources.ts';
import { Store, type Change } from './store.ts';

/** Possible events for the objects and the connection. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass time' as const), ms: fc.nat(20_000) }),
  },
  ...(
    [
      'turn the event loop',
      'bookmark',
      'end',
      'cut',
      'cut inside a line',
      'freeze',
      'compact',
      'echo',
      'error in the stream',
      'refuse the next request',
      'throttle the next request',
      'break the next request',
      'restore a backup',
    ] as const
  ).map((name) => ({ weight: 1, arbitrary: fc.constant({ do: name }) })),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface World {
  readonly api: FakeKubeApi;
  readonly clock: SimulatedClock;
  readonly ledger: Ledger;
  backup: { readonly objects: FakeKubeApi['objects']; readonly revision: number };
}

function failNext(api: FakeKubeApi, outcome: () => ReturnType<NonNullable<FakeKubeApi['fault']>>) {
  api.fault = () => {
    api.fault = undefined;
    return outcome();
  };
}

async function take(world: World, action: Step): Promise<void> {
  const { api, clock } = world;
  switch (action.do) {
    case 'put':
      api.put('services', { metadata: { namespace: 'n', name: `s${action.name}` } });
      return;
    case 'remove':
      api.remove('services', 'n', `s${action.name}`);
      return;
    case 'pass time':
      await clock.advance(action.ms);
      return;
    case 'turn the event loop':
      await settled();
      return;
    case 'bookmark':
      api.bookmark();
      return;
    case 'end':
      api.endWatches();
      return;
    case 'cut':
      api.cutWatches();
      return;
    case 'cut inside a line':
      api.cutWatches('{"type":"DELETED","object":{"metadata":{"name":"s1"');
      return;
    case 'freeze':
      api.freezeWatches();
      return;
    case 'compact':
      api.goneAs = api.goneAs === 'status' ? 'event' : 'status';
      api.compact();
      return;
    case 'echo':
      api.echo(4);
      return;
    case 'error in the stream':
      api.say(eventLine('ERROR', { kind: 'Status' }));
      api.cutWatches();
      return;
    case 'refuse the next request':
      failNext(api, () => failure(500, 'InternalError'));
      return;
    case 'throttle the next request':
      failNext(api, () => failure(429, 'TooManyRequests', { 'retry-after': '3' }));
      return;
    case 'break the next request':
      failNext(api, () => new Error('read ECONNRESET'));
      return;
    case 'restore a backup': {
      const { objects, revision } = world.backup;
      // A version that a client has seen must not be reused for another state before the client reads: the
      // operator who restores an etcd must ensure that, because no client can detect it.
      await settled();
      if (api.revision === revision) return;
      api.restore(objects, revision);
      world.ledger.historyWentBack();
      world.backup = { objects: new Map(api.objects), revision };
      await clock.advance(recoveryMs);
    }
  }
}

/** Recovery takes at most the idle timeout of a dead watch and the longest backoff. */
const recoveryMs = 200_000;

/** The state that results from the reported changes; throws if they contradict each other. */
class Ledger {
  readonly held = new Map<string, Service>();
  readonly #reported = new Set<string>();

  /** From here on the server may reuse versions. */
  historyWentBack(): void {
    this.#reported.clear();
  }

  report(change: Change<Service>): void {
    const known = this.held.get(change.key);
    switch (change.type) {
      case 'added':
        expect(known, `${change.key} was added twice`).toBeUndefined();
        this.#hold(change.key, change.after);
        return;
      case 'updated':
        expect(known, `${change.key} was updated from something else`).toBe(change.before);
        expect(change.after.metadata?.uid).toBe(change.before.metadata?.uid);
        this.#hold(change.key, change.after);
        return;
      case 'deleted':
        expect(known, `${change.key} was deleted twice`).toBe(change.before);
        this.held.delete(change.key);
    }
  }

  #hold(key: string, object: Service): void {
    const state = `${object.metadata?.uid} at ${object.metadata?.resourceVersion}`;
    expect(this.#reported.has(state), `${key} was reported twice: ${state}`).toBe(false);
    this.#reported.add(state);
    this.held.set(key, object);
  }
}

async function scenario(seed: number, streamed: boolean, steps: readonly Step[]): Promise<void> {
  const api = new FakeKubeApi();
  api.streamedLists = streamed ? 'known' : 'refused';
  api.put('services', { metadata: { namespace: 'n', name: 's0' } });
  const clock = new SimulatedClock();
  const random = seededRandom(seed);
  const client = new KubeClient({ transport: api, clock, random });
  const store = new Store<Service>({
    log: { ...discardLog, error: (fields) => failures.push(fields) },
  });
  const failures: object[] = [];
  const ledger = new Ledger();
  store.onChange((change) => ledger.report(change));
  const shared = { client, store, clock, random, log: discardLog, metrics: noMetrics };
  const reflector = new Reflector({ ...shared, resource: services, projection: withSlimMetadata });
  const controller = new AbortController();
  const running = reflector.run(controller.signal);
  const world: World = {
    api,
    clock,
    ledger,
    backup: { objects: new Map(api.objects), revision: api.revision },
  };

  for (const action of steps) await take(world, action);
  api.fault = undefined;
  await clock.advance(recoveryMs);

  const versions = (objects: Iterable<Service>) =>
    [...objects]
      .map(({ metadata }) => `${metadata?.name} ${metadata?.uid} ${metadata?.resourceVersion}`)
      .sort();
  const wanted = versions(api.objects.values());
  expect(failures).toEqual([]);
  expect(versions(store.values())).toEqual(wanted);
  expect(versions(ledger.held.values())).toEqual(wanted);
  expect(reflector.readiness()).toBeUndefined();
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
}

describe('Reflector, in any sequence of events', () => {
  it.each([
    ['streamed lists', true],
    ['pages', false],
  ])('becomes equal to the server and reports each change once, with %s', async (_, streamed) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(step, { maxLength: 60 }), (seed, steps) =>
        scenario(seed, streamed, steps),
      ),
      { numRuns: 300 },
    );
  });
});
