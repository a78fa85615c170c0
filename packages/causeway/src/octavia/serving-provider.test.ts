import { expect, test } from 'vitest';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import type { KlbSpec } from './kuryr-load-balancer.ts';
import { bareBalancer } from './observed.ts';
import { ServingProvider } from './serving-provider.ts';

const balancer: LoadBalancer = {
  id: 'b1',
  name: 'shop/web',
  description: '',
  projectId: 'p',
  adminStateUp: true,
  provisioningStatus: 'ACTIVE',
  operatingStatus: 'ONLINE',
  tags: [],
  provider: 'ovn',
  vipAddress: undefined,
  vipPortId: undefined,
  vipSubnetId: undefined,
  vipNetworkId: undefined,
  additionalVips: [],
  listenerIds: [],
  poolIds: [],
  flavorId: undefined,
  availabilityZone: undefined,
};
const observed = bareBalancer(balancer);
const klb = (spec: KlbSpec) => ({ metadata: { namespace: 'shop', name: 'web' }, spec });

test("uses the configured provider, then the present one, then the cloud's default", () => {
  const serving = new ServingProvider();
  expect(serving.of(klb({ provider: 'amphora' }), observed)).toBe('amphora');
  expect(serving.of(klb({}), observed)).toBe('ovn');
  expect(serving.of(klb({}), undefined)).toBeUndefined();
  serving.learn('amphora', 'amphora');
  expect(serving.of(klb({}), undefined)).toBeUndefined();
  serving.learn(undefined, 'ovn');
  expect(serving.of(klb({}), undefined)).toBe('ovn');
});

test('never replaces a load balancer that the user names: its own provider counts', () => {
  const spec = { provider: 'amphora', options: { loadbalancer_id: 'b1' } };
  expect(new ServingProvider().of(klb(spec), observed)).toBe('ovn');
});
