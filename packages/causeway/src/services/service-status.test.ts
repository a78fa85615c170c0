import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { isServed, mergeIngress, readyCondition, statusChange } from './service-status.ts';

const now = '2026-01-02T00:00:00.000Z';
const vip = (ip: string) => ({ ip, ipMode: 'VIP' as const });
const served = { status: 'True', reason: 'Served', message: 'Served on 192.0.2.1' } as const;

function makeService(ips: readonly string[], conditions: object[] = []): Service {
  return {
    metadata: { generation: 3 },
    status: { loadBalancer: { ingress: ips.map(vip) }, conditions },
  } as Service;
}

test('replaces its own addresses and keeps foreign addresses', () => {
  const service = makeService(['203.0.113.9', '192.0.2.1']);
  expect(mergeIngress(service, [vip('192.0.2.1')], [vip('192.0.2.2')])).toEqual([
    vip('203.0.113.9'),
    vip('192.0.2.2'),
  ]);
  expect(mergeIngress(service, [vip('192.0.2.1')], [])).toEqual([vip('203.0.113.9')]);
});

test('writes nothing if the status is up to date', () => {
  const condition = { type: readyCondition, ...served, observedGeneration: 3 };
  const service = makeService(['192.0.2.1'], [condition]);
  expect(
    statusChange(service, { ingress: [vip('192.0.2.1')], condition: served }, now),
  ).toBeUndefined();
});

test('sets the observed generation of the condition', () => {
  const old = { type: readyCondition, ...served, lastTransitionTime: now, observedGeneration: 2 };
  const service = makeService(['192.0.2.1'], [old]);
  expect(statusChange(service, { ingress: undefined, condition: served }, now)).toEqual({
    conditions: [{ ...old, observedGeneration: 3 }],
  });
});

test('is served only if its condition is true and its status has the expected addresses', () => {
  const yes = [{ type: readyCondition, ...served }];
  const no = [{ type: readyCondition, ...served, status: 'False' }];
  const ours = [vip('192.0.2.1')];
  expect(isServed(makeService(['203.0.113.9', '192.0.2.1'], yes), ours, ours)).toBe(true);
  expect(isServed(makeService(['192.0.2.1'], yes), ours, undefined)).toBe(true);
  expect(isServed(makeService(['192.0.2.1'], yes), ours, [vip('192.0.2.2')])).toBe(false);
  expect(isServed(makeService(['192.0.2.1'], no), ours, ours)).toBe(false);
});

test('changes the transition time with the status, not with the message', () => {
  const condition = { type: readyCondition, ...served, lastTransitionTime: 'earlier' };
  const other = { type: 'example.com/Other', status: 'True' };
  const service = makeService([], [other, condition]);
  const reworded = { ...served, message: 'Served on 192.0.2.2' };
  expect(statusChange(service, { ingress: undefined, condition: reworded }, now)).toEqual({
    conditions: [
      other,
      { type: readyCondition, ...reworded, lastTransitionTime: 'earlier', observedGeneration: 3 },
    ],
  });
  const failed = { status: 'False', reason: 'Pending', message: '' } as const;
  expect(
    statusChange(service, { ingress: undefined, condition: failed }, now)?.conditions?.[1],
  ).toMatchObject({
    status: 'False',
    lastTransitionTime: now,
  });
});

test('removes its own condition on release and keeps the others', () => {
  const other = { type: 'example.com/Other', status: 'True' };
  const service = makeService(['192.0.2.1'], [{ type: readyCondition, ...served }, other]);
  expect(statusChange(service, { ingress: [], condition: undefined }, now)).toEqual({
    loadBalancer: { ingress: [] },
    conditions: [other],
  });
});
