import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { largeService } from '@causeway/kubernetes/objects/large-service.testing';
import type { Holding } from './holding.ts';
import { readPoolServiceSpec } from './service-spec.ts';

function service(annotations: Record<string, string> = {}, spec: Service['spec'] = {}): Service {
  return {
    metadata: { namespace: 'shop', name: 'web', uid: 'u', annotations },
    spec: { ipFamilies: ['IPv4'], ports: [{ port: 443 }, { port: 53, protocol: 'UDP' }], ...spec },
  };
}

function demand(of: Service, holding?: Holding) {
  const reading = readPoolServiceSpec(of, holding);
  return reading.kind === 'spec' ? reading.spec.demand : `${reading.reason}: ${reading.message}`;
}

test('requests addresses by UID, with families and ports', () => {
  expect(demand(service({}, { ipFamilies: ['IPv6', 'IPv4'] }))).toEqual({
    namespace: 'shop',
    name: 'web',
    families: [6, 4],
    addresses: [],
    inUse: false,
    ports: ['TCP/443', 'UDP/53'],
  });
});

test.each<[string, Record<string, string>, object]>([
  ['our annotation', { 'causeway.dev/address': '192.0.2.7' }, { addresses: ['192.0.2.7'] }],
  ['the announcer’s', { 'metallb.io/loadBalancerIPs': '192.0.2.8' }, { addresses: ['192.0.2.8'] }],
  ['a sharing key', { 'causeway.dev/sharing-key': 'k' }, { sharingKey: 'k' }],
  ['a pool', { 'causeway.dev/address-pool': 'public' }, { pool: 'public' }],
  [
    'labels of a pool',
    { 'causeway.dev/address-pool-labels': 'tier=gold, zone=b' },
    { poolLabels: { tier: 'gold', zone: 'b' } },
  ],
])('reads %s', (_what, annotations, expected) => {
  expect(demand(service(annotations))).toMatchObject(expected);
});

test('refuses a Service over the budget before any request', () => {
  expect(demand(largeService(1000, 2000))).toMatch(/^OverBudget: The Service has 2000000 pairs/);
  const digits = service({ 'causeway.dev/address': '1'.repeat(200_000) });
  expect(demand(digits)).toContain('Causeway reads up to 1024');
});

test("requests its own addresses by name, regardless of the user's request; but not after it lost them", () => {
  const held: Holding = {
    uid: 'u',
    addresses: [{ address: parseAddress('192.0.2.9') }],
    fencingToken: 1,
    announcer: 'metallb',
  };
  const asks = service({ 'causeway.dev/address': '192.0.2.7' });
  expect(demand(asks, held)).toMatchObject({ addresses: ['192.0.2.9'], inUse: true });
  expect(demand(asks, { ...held, addresses: [] })).toMatchObject({
    addresses: ['192.0.2.7'],
    inUse: false,
  });
  // Addresses that are no longer announced are requested, but not in use.
  expect(demand(asks, { ...held, stoppedAt: 5 })).toMatchObject({
    addresses: ['192.0.2.9'],
    inUse: false,
  });
});

test('explains invalid requests', () => {
  expect(demand(service({ 'causeway.dev/announcer': 'bird' }))).toContain('known are kube-vip');
  expect(demand(service({ 'causeway.dev/address': 'x' }))).toContain('InvalidAddress');
});

test('refuses unreadable labels with an example', () => {
  expect(demand(service({ 'causeway.dev/address-pool-labels': 'gold' }))).toBe(
    'InvalidPoolLabels: The annotation causeway.dev/address-pool-labels: "gold" is not name=value, such as tier=gold,zone=b.',
  );
});
