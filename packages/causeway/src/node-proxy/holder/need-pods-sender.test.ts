import { afterEach, expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Event } from '@causeway/kubernetes/objects/core-objects';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { NeedPodsSender } from './need-pods-sender.ts';

const key = 'shop/web';
let end = () => Promise.resolve();
afterEach(() => end());

function start() {
  const clock = new SimulatedClock();
  const world = { isAwaited: true, failures: 0 };
  const sent: { readonly at: number; readonly event: Event }[] = [];
  const begin = clock.monotonic();
  const create = (_: unknown, event: Event) => {
    if (world.failures > 0) {
      world.failures -= 1;
      return Promise.reject(new CausewayError('unavailable', 'not now'));
    }
    sent.push({ at: clock.monotonic() - begin, event });
    return Promise.resolve(event);
  };
  const sender = new NeedPodsSender({
    client: { create } as unknown as KubeClient,
    node: 'node1',
    random: () => 0,
    clock,
    log: discardLog,
    metrics: noMetrics,
  });
  const stop = new AbortController();
  const running = sender.run(() => world.isAwaited, stop.signal).catch(() => {});
  end = async () => {
    stop.abort();
    await clock.advance(60_000);
    await running;
  };
  return { clock, world, sender, sent, times: () => sent.map(({ at }) => at) };
}

it('sends an Event at once, and again with backoff while a client waits', async () => {
  const { clock, world, sender, sent, times } = start();
  sender.request(key, 'TCP/80', true);
  await clock.advance(65_000);
  expect(times()).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 61_000]);
  expect(sent[0]?.event).toMatchObject({
    involvedObject: { kind: 'Service', namespace: 'shop', name: 'web' },
    reason: 'NeedPods',
    source: { host: 'node1' },
  });
  world.isAwaited = false;
  await clock.advance(120_000);
  expect(times()).toHaveLength(7);
});

it('starts the backoff again with the first client after an idle period', async () => {
  const { clock, world, sender, times } = start();
  sender.request(key, 'TCP/80', true);
  await clock.advance(3_500);
  world.isAwaited = false;
  await clock.advance(60_000);
  world.isAwaited = true;
  sender.request(key, 'TCP/80', true);
  await clock.advance(1_500);
  expect(times()).toEqual([0, 1_000, 3_000, 63_500, 64_500]);
});

it('does not send more often for more clients', async () => {
  const { clock, sender, times } = start();
  sender.request(key, 'TCP/80', true);
  for (let each = 0; each < 10; each += 1) sender.request(key, 'TCP/80', false);
  await clock.advance(2_000);
  expect(times()).toEqual([0, 1_000]);
});

it('sends an Event for a client that was rejected for lack of room', async () => {
  const { clock, world, sender, times } = start();
  world.isAwaited = false;
  sender.request(key, 'TCP/80', false);
  await clock.advance(10_000);
  expect(times()).toEqual([0]);
});

it('retries an Event that the API rejected', async () => {
  const { clock, world, sender, times } = start();
  world.failures = 3;
  sender.request(key, 'TCP/80', true);
  await clock.advance(30_000);
  expect(times().length).toBeGreaterThan(1);
});
