import { expect, it } from 'vitest';
import { decideWake, type WakeInput } from './decide-wake.ts';
import { needPodsKey, requestTime } from './need-pods.ts';

const asleep: WakeInput = {
  isMarked: true,
  idledAt: 100_000,
  seenAt: 100_200,
  requestedAt: undefined,
  answeredAt: undefined,
};

it.each<[string, Partial<WakeInput>, string]>([
  ['no request', {}, 'asleep'],
  ['a later request', { requestedAt: 130_000 }, 'wake'],
  ['an earlier request', { requestedAt: 90_000 }, 'asleep'],
  ['in the same second', { idledAt: 100_700, requestedAt: 100_000 }, 'wake'],
  ['that request was answered before', { requestedAt: 100_000, answeredAt: 100_000 }, 'asleep'],
  ['another request', { requestedAt: 101_000, answeredAt: 100_000 }, 'wake'],
  ['not idle', { isMarked: false, requestedAt: 130_000 }, 'awake'],
  ['the mark is from the future', { idledAt: 900_000, requestedAt: 101_000 }, 'wake'],
  [
    'the mark is from the future, the request from before',
    { idledAt: 900_000, requestedAt: 99_000 },
    'asleep',
  ],
  ['the mark says no time', { idledAt: undefined, requestedAt: 101_000 }, 'wake'],
  [
    'the mark says no time, the request is old',
    { idledAt: undefined, requestedAt: 90_000 },
    'asleep',
  ],
])('%s', (_, change, decision) => {
  expect(decideWake({ ...asleep, ...change })).toBe(decision);
});

it('reads the Service and the latest time of an Event', () => {
  const event = {
    metadata: { namespace: 'shop', name: 'web.1', creationTimestamp: '2026-01-01T00:00:05Z' },
    reason: 'NeedPods',
    involvedObject: { kind: 'Service', name: 'web' },
    firstTimestamp: '2026-01-01T00:00:01Z',
    lastTimestamp: null,
  };
  expect(needPodsKey(event)).toBe('shop/web');
  const seenAt = Date.parse('2026-01-01T00:01:00Z');
  expect(requestTime(event, seenAt)).toBe(Date.parse('2026-01-01T00:00:05Z'));
  const repeated = { ...event, lastTimestamp: '2026-01-01T00:00:30Z' };
  expect(requestTime(repeated, seenAt)).toBe(Date.parse('2026-01-01T00:00:30Z'));
  expect(needPodsKey({ ...event, reason: 'Other' })).toBeUndefined();
  expect(needPodsKey({ ...event, involvedObject: { kind: 'Pod', name: 'x' } })).toBeUndefined();
});

it('counts a request with a future time from when it was seen, so that the next request is newer', () => {
  const seenAt = Date.parse('2026-01-01T00:01:00Z');
  const ahead = { lastTimestamp: '2027-01-01T00:00:00Z' };
  expect(requestTime(ahead, seenAt)).toBe(seenAt);
  const created = { ...ahead, metadata: { creationTimestamp: '2026-01-01T00:01:02Z' } };
  expect(requestTime(created, seenAt)).toBe(seenAt + 2_000);
  const next = requestTime({ lastTimestamp: '2026-01-01T00:02:00Z' }, seenAt + 60_000);
  const answeredAt = requestTime(ahead, seenAt);
  const idledAt = seenAt + 30_000;
  const slept = { ...asleep, idledAt, seenAt: idledAt };
  expect(decideWake({ ...slept, requestedAt: next, answeredAt })).toBe('wake');
});
