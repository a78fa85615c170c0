import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import type { LoadBalancing } from '../../../packages/openstack/src/load-balancing/contract.ts';
import { openLoadBalancing } from '../../../packages/openstack/src/load-balancing/open.ts';
import type { LoadBalancerWaiter } from '../../../packages/openstack/src/load-balancing/waiter.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../../packages/fake-openstack/src/cloud.ts';
import { TestCloud, uniqueName } from './clouds.ts';

const call = { signal: new AbortController().signal };
const member = (address: string, weight = 1) => ({
  address: parseAddress(address),
  port: parsePort(80),
  weight,
});

/** Mitaka can't be installed any more, so this runs only on the embedded cloud. */
describe('LBaaS v2 on the endpoint of Neutron', () => {
  let running: EmbeddedOpenStack;
  let cloud: TestCloud;
  let balancing: LoadBalancing;
  let waiter: LoadBalancerWaiter;
  let subnetId: string;
  beforeAll(async () => {
    running = await startEmbeddedOpenStack({ loadBalancing: 'lbaas-v2' });
    cloud = new TestCloud(running);
    const session = cloud.open('demo').session();
    balancing = await openLoadBalancing(session, call);
    waiter = balancing.waiter;
    subnetId = running.neutron.subnets.by('name', 'private-v4')[0]?.id ?? '';
  });
  afterAll(() => cloud.stop());

  it('is used if the catalog has no Octavia', () => {
    expect(balancing.kind).toBe('lbaas-v2');
    expect(balancing.capabilities()).toMatchObject({ batchMembers: false, tags: false });
  });

  it('creates a whole tree object by object, changes its members and deletes it', async () => {
    const name = uniqueName('mitaka');
    const made = await balancing.createLoadBalancer(
      {
        name,
        vipSubnetId: subnetId,
        listeners: [
          {
            name: 'web',
            protocol: 'TCP',
            port: parsePort(80),
            defaultPool: {
              name: 'web',
              protocol: 'TCP',
              algorithm: 'ROUND_ROBIN',
              members: [
                { ...member('10.10.6.1'), subnetId },
                { ...member('10.10.6.2'), subnetId },
              ],
              healthMonitor: { type: 'TCP', delay: 5, timeout: 3, maxRetries: 3 },
            },
          },
        ],
      },
      { ...call, once: 'name' },
    );
    await waiter.active(made.id, call);
    const tree = await balancing.statusTree(made.id, call);
    expect(tree).toMatchObject({ provisioningStatus: 'ACTIVE' });
    const [pool] = await collect(balancing.pools({ loadBalancerId: made.id }, call));
    expect(pool?.name).toBe('web');
    const poolId = pool?.id ?? '';
    const wanted = [
      { ...member('10.10.6.2', 5), subnetId },
      { ...member('10.10.6.3'), subnetId },
    ];
    expect(await balancing.replaceMembers(poolId, wanted, call)).toBe('changed');
    await waiter.active(made.id, call);
    expect(await balancing.replaceMembers(poolId, wanted, call)).toBe('unchanged');
    const members = await collect(balancing.members(poolId, call));
    expect(members.map(({ address, weight }) => `${address}=${weight}`).sort()).toEqual([
      '10.10.6.2=5',
      '10.10.6.3=1',
    ]);
    await balancing.deleteLoadBalancer(made.id, { ...call, cascade: true });
    await waiter.gone(made.id, call);
    expect(running.octavia.pools.size).toBe(0);
    expect(running.neutron.ports.by('device_owner', 'Octavia')).toEqual([]);
  });

  it('answers a write to a locked load balancer with a conflict', async () => {
    const release = running.provisioning.hold();
    const name = uniqueName('locked');
    const made = await balancing.createLoadBalancer({ name, vipSubnetId: subnetId }, call);
    const listener = {
      name: 'web',
      protocol: 'TCP',
      port: parsePort(80),
      loadBalancerId: made.id,
    } as const;
    await expect(balancing.createListener(listener, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    release();
    await waiter.active(made.id, call);
    const { id } = await balancing.createListener(listener, call);
    await waiter.active(made.id, call);
    await expect(balancing.deleteLoadBalancer(made.id, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    await balancing.deleteListener(id, call);
    await waiter.active(made.id, call);
    await balancing.deleteLoadBalancer(made.id, call);
    await waiter.gone(made.id, call);
  });
});
