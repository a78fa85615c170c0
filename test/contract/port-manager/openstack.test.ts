import { beforeAll, expect, test } from 'vitest';
import { addressFromInteger, addressToInteger, type Address } from '../../../src/domain/address.ts';
import { parsePrefix } from '../../../src/domain/prefix.ts';
import { OpenStackPortManager } from '../../../src/loadbalancer/gateway/openstack-port-manager.ts';
import { Neutron } from '../../../src/openstack/neutron/neutron.ts';
import type { Subnet } from '../../../src/openstack/neutron/resources.ts';
import { describeEveryCloud, uniqueName } from '../openstack/clouds.ts';
import { portManagerContract } from './contract.ts';

const signal = new AbortController().signal;

await describeEveryCloud('the OpenStack port manager', {}, (cloud) => {
  let neutron: Neutron;
  let subnet: Subnet;
  let floatingNetwork = '';
  const managerOf = (clusterId: string, withFloating = false) =>
    new OpenStackPortManager({
      neutron,
      clusterId,
      subnets: new Map([[4, subnet]]),
      ...(withFloating ? { floating: { networkId: floatingNetwork } } : {}),
    });

  beforeAll(async () => {
    neutron = new Neutron(cloud().open('demo').session());
    const network = await neutron.networks.create({ name: uniqueName('gateways') }, { signal });
    const admin = new Neutron(cloud().open('admin').session());
    subnet = await neutron.subnets.create(
      { name: uniqueName('gateways'), networkId: network.id, cidr: parsePrefix('10.77.0.0/24') },
      { signal },
    );
    for await (const external of admin.networks.list({ external: true }, { signal })) {
      floatingNetwork = external.id;
    }
    const router = await neutron.routers.create(
      { name: uniqueName('gateways'), externalNetworkId: floatingNetwork },
      { signal },
    );
    await neutron.addRouterInterface(router.id, subnet.id, { signal });
  });

  portManagerContract({
    newManager: () => Promise.resolve(managerOf('contract')),
    wishable: () => Promise.resolve(hostOf(subnet, 77n)),
  });

  test('a floating IP is what users reach; it goes with its port unless it is to be kept', async () => {
    const manager = managerOf('floating', true);
    const wish = { family: 4 as const, requested: undefined };
    const port = await manager.create({ ...wish, marker: uniqueName('m') }, signal);
    expect(port.publicAddress).not.toBe(port.address);
    await manager.delete(port, false, signal);
    expect(await floatingIps(neutron, port.publicAddress)).toEqual([]);
    const kept = await manager.create({ ...wish, marker: uniqueName('m') }, signal);
    await manager.delete(kept, true, signal);
    await manager.sweep(new Set(), signal);
    const [remaining] = await floatingIps(neutron, kept.publicAddress);
    expect(remaining).toMatchObject({ address: kept.publicAddress, portId: undefined });
    const again = await manager.create(
      { ...wish, requested: kept.publicAddress, marker: uniqueName('m') },
      signal,
    );
    expect(again.publicAddress).toBe(kept.publicAddress);
    await manager.delete(again, false, signal);
  });

  test('a floating IP that lost its port is swept, unless its port is known', async () => {
    const manager = managerOf('sweep', true);
    const wish = { family: 4 as const, requested: undefined, marker: uniqueName('m') };
    const port = await manager.create(wish, signal);
    await neutron.ports.delete(port.id, { signal });
    expect(await manager.sweep(new Set([port.id]), signal)).toEqual([]);
    expect(await manager.sweep(new Set(), signal)).toEqual([`floating IP ${port.publicAddress}`]);
  });

  test("two clusters in one project never see each other's ports", async () => {
    const [left, right] = [managerOf('left'), managerOf('right')];
    const wish = { family: 4 as const, requested: undefined };
    const port = await left.create({ ...wish, marker: uniqueName('m') }, signal);
    expect(await right.list(new Set(), new Set(), signal)).toEqual([]);
    expect(await left.list(new Set(), new Set(), signal)).toEqual([port]);
    await left.delete(port, false, signal);
  });

  test("a port that is being made is nobody's leftover", async () => {
    const manager = managerOf('making');
    const marker = uniqueName('m');
    const port = await manager.create({ family: 4, requested: undefined, marker }, signal);
    expect(await manager.list(new Set(), new Set([marker]), signal)).toEqual([]);
    expect(await manager.list(new Set(), new Set(), signal)).toEqual([port]);
    await manager.delete(port, false, signal);
  });
});

function hostOf(subnet: Subnet, host: bigint): Address {
  return addressFromInteger(addressToInteger(subnet.cidr.address) + host, 4);
}

async function floatingIps(neutron: Neutron, address: Address) {
  const found = [];
  for await (const floating of neutron.floatingIps.list({ address }, { signal }))
    found.push(floating);
  return found;
}
