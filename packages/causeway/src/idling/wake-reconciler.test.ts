import { describe, expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Pod, Service } from '@causeway/kubernetes/objects/core-objects';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { idledAt, unidleTargets } from './annotations.ts';
import { WakeReconciler } from './wake-reconciler.ts';
import type { Waker } from './waker.ts';

const key = 'shop/web';
const context = { signal: new AbortController().signal, log: discardLog };
const target = { kind: 'Deployment', name: 'web', group: 'apps', replicas: 1 };

/** A Service that is idle since the clock's start; the fakes do what the test says. */
function start() {
  const clock = new SimulatedClock();
  const annotations = {
    [idledAt]: new Date(clock.wallTime()).toISOString(),
    [unidleTargets]: JSON.stringify([target]),
  };
  const asleep: Service = { metadata: { namespace: 'shop', name: 'web', annotations } };
  const world = {
    service: asleep as Service | undefined,
    isReady: true,
    /** The pod behind the endpoint; undefined where there is none. */
    pod: undefined as Pod | undefined,
    requestedAt: clock.wallTime() as number | undefined,
    failures: 0,
    refused: undefined as CausewayError | undefined,
    finished: 0,
  };
  const waker = {
    start: () => {
      const failed = world.refused === undefined ? [] : [{ target, error: world.refused }];
      return Promise.resolve({ started: [], running: [target], missing: [], failed });
    },
    finish: () => {
      if (world.failures > 0) {
        world.failures -= 1;
        return Promise.reject(new CausewayError('conflict', 'it has changed'));
      }
      world.finished += 1;
      return Promise.resolve();
    },
  };
  const client = {
    find: (resource: Resource) =>
      Promise.resolve(resource.plural === 'pods' ? world.pod : undefined),
    async *list() {
      await Promise.resolve();
      const targetRef =
        world.pod === undefined ? {} : { targetRef: { kind: 'Pod', name: 'web-1' } };
      const endpoint = { addresses: ['10.1.0.1'], ...targetRef };
      yield { addressType: 'IPv4', endpoints: world.isReady ? [endpoint] : [] };
    },
  };
  const events: string[] = [];
  const reconciler = new WakeReconciler({
    client: client as unknown as KubeClient,
    waker: waker as unknown as Waker,
    find: () => world.service,
    requestedAt: () => world.requestedAt,
    recordEvent: (_, { reason }) => events.push(reason),
    clock,
    metrics: noMetrics,
  });
  return { world, clock, events, reconcile: () => reconciler.reconcile(key, context), reconciler };
}

describe('waking a Service', () => {
  it('tries again after a concurrent change, and keeps the request', async () => {
    const { world, reconcile, events } = start();
    world.failures = 1;
    await expect(reconcile()).rejects.toThrow('it has changed');
    expect(await reconcile()).toEqual({ kind: 'done' });
    expect(world.finished).toBe(1);
    expect(events).toEqual(['Woken']);
  });

  it("records which target can't be scaled, and tries it again although another pod is ready", async () => {
    const { world, reconcile, events } = start();
    world.refused = new CausewayError('forbidden', 'no');
    await expect(reconcile()).rejects.toThrow('no');
    expect(events).toEqual(['WakeFailed']);
    expect(world.finished).toBe(0);
    world.refused = undefined;
    expect(await reconcile()).toEqual({ kind: 'done' });
  });

  it('is not finished while its slices still name the former pods, which are being deleted', async () => {
    const { world, reconcile, events } = start();
    world.pod = { metadata: { name: 'web-1', deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(await reconcile()).toMatchObject({ kind: 'retryAfter' });
    expect(world.finished).toBe(0);
    world.pod = { metadata: { name: 'web-1' } };
    expect(await reconcile()).toEqual({ kind: 'done' });
    expect(events).toEqual(['Woken']);
  });

  it('does not answer one request twice when the Service is idled again within the second', async () => {
    const { world, clock, reconcile } = start();
    await reconcile();
    expect(await reconcile()).toMatchObject({ kind: 'wait' });
    world.requestedAt = clock.wallTime() + 1_000;
    expect(await reconcile()).toEqual({ kind: 'done' });
    expect(world.finished).toBe(2);
  });

  it('checks until a pod is ready, and gives up after ten minutes', async () => {
    const { world, clock, reconcile, reconciler, events } = start();
    world.isReady = false;
    expect(await reconcile()).toMatchObject({ kind: 'retryAfter' });
    expect(reconciler.counts).toEqual({ asleep: 0, waking: 1 });
    await clock.advance(600_001);
    expect(await reconcile()).toEqual({ kind: 'done' });
    expect(events).toEqual(['WakeFailed']);
  });

  it('does not start when its annotations are not readable, and records an Event', async () => {
    const { world, reconcile, events } = start();
    const annotations = { ...world.service?.metadata?.annotations, [unidleTargets]: 'not JSON' };
    world.service = { ...world.service, metadata: { ...world.service?.metadata, annotations } };
    expect(await reconcile()).toMatchObject({ kind: 'invalid' });
    expect(events).toEqual(['CannotWake']);
  });

  it('does nothing without a request, and drops its state when the Service is deleted', async () => {
    const { world, reconcile, reconciler } = start();
    world.requestedAt = undefined;
    expect(await reconcile()).toMatchObject({ kind: 'wait' });
    expect(reconciler.counts).toEqual({ asleep: 1, waking: 0 });
    world.service = undefined;
    expect(await reconcile()).toEqual({ kind: 'done' });
    expect(reconciler.counts).toEqual({ asleep: 0, waking: 0 });
  });
});
