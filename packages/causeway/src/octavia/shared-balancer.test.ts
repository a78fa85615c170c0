import { expect, test } from 'vitest';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import { sharedBalancerOn } from './shared-balancer.ts';
import { Identity } from './identity.ts';
import { bareBalancer } from './observed.ts';

const identity = new Identity({ id: 'here', uid: 'c-1' });
const owner = { namespace: 'shop', name: 'web', uid: 'u1' };
const balancer: LoadBalancer = {
  id: 'b1',
  name: 'theirs',
  description: '',
  projectId: 'p',
  adminStateUp: true,
  provisioningStatus: 'ACTIVE',
  operatingStatus: 'ONLINE',
  tags: [],
  provider: 'amphora',
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
const recorded = { id: 'l1', name: 'shop/web:TCP:80', protocol: 'TCP', port: 80 } as const;
const klb = {
  metadata: { namespace: 'shop', name: 'web' },
  status: { listeners: [{ ...recorded, loadbalancer_id: 'b1', project_id: 'p' }] },
};

test.each([
  ['with its own mark', 'l9', 'shop/web:TCP:80', identity.description(owner), true],
  [
    'of a recreated Service',
    'l9',
    'shop/web:TCP:80',
    identity.description({ ...owner, uid: 'u0' }),
    true,
  ],
  ['without a mark, in the status', 'l1', 'shop/web:TCP:80', '', true],
  ['without a mark, in no status', 'l9', 'shop/web:TCP:80', '', false],
  [
    'of another cluster, regardless of the status',
    'l1',
    'shop/web:TCP:80',
    new Identity({ id: 'there', uid: 'c-2' }).description(owner),
    false,
  ],
  ['in the status under another name', 'l1', 'theirs', '', false],
])('a listener %s', (_, id, name, description, isMine) => {
  const sharedBalancer = sharedBalancerOn(bareBalancer(balancer), klb, owner, identity);
  expect(sharedBalancer?.isMine({ id, name, description })).toBe(isMine);
});

test('on a load balancer of this cluster names suffice', () => {
  const own = { ...balancer, description: identity.description(owner) };
  expect(sharedBalancerOn(bareBalancer(own), klb, owner, identity)).toBeUndefined();
});
