import { beforeAll, describe, expect, test } from 'vitest';
import {
  addressFromInteger,
  addressToInteger,
  parseAddress,
  type Address,
} from '../../../packages/base/src/address/address.ts';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import { formatPrefix, parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { OpenStackAddressPairWriter } from '../../../packages/causeway/src/gateway/controller/fencing/openstack-address-pair-writer.ts';
import { OpenStackPortManager } from '../../../packages/causeway/src/gateway/controller/ports/openstack-port-manager.ts';
import { MemoryPortRecords } from '../../../packages/causeway/src/gateway/controller/ports/memory-port-records.testing.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import type { Port, Subnet } from '../../../packages/openstack/src/neutron/resources.ts';
import { describeEveryCloud, uniqueName } from '../openstack/clouds.ts';
import { portManagerContract } from './contract.ts';

const signal = new AbortController().signal;
const nothing: ReadonlySet<string> = new Set();
const noAddresses: ReadonlySet<Address> = new Set();

await describeEveryCloud('the OpenStack port manager', {}, (cloud) => {
  let neutron: Neutron;
  let subnet: Subnet;
  let floatingNetwork = '';
  const recordsByUid = new Map<string, MemoryPortRecords>();
  const recordsOf = (id: string) => {
    const records = recordsByUid.get(id) ?? new MemoryPortRecords();
    recordsByUid.set(id, records);
    return records;
  };
  const managerOf = (id: string, withFloating = false, uid = `uid-of-${id}`) =>
    new OpenStackPortManager({
      neutron,
      cluster: { id, uid },
      records: recordsOf(uid),
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
    requestable: () => Promise.resolve(hostOf(subnet, 77n)),
  });

  test('users reach a floating IP; it is deleted with its port unless it is to be kept', async () => {
    const manager = managerOf('floating', true);
    const request = { family: 4 as const, requested: undefined };
    const port = await manager.create({ ...request, marker: uniqueName('m') }, signal);
    expect(port.publicAddress).not.toBe(port.address);
    await manager.delete(port, signal);
    expect(await floatingIps(neutron, port.publicAddress)).toEqual([]);
    const kept = await manager.create({ ...request, marker: uniqueName('m') }, signal);
    expect(await manager.keepPublic(kept, true, signal)).toEqual({ ...kept, keepsPublic: true });
    // The mark survives its manager.
    const found = await managerOf('floating', true).list(nothing, nothing, signal);
    expect(found).toEqual([{ ...kept, keepsPublic: true }]);
    await manager.delete(kept, signal);
    await manager.sweep(nothing, noAddresses, signal);
    const [remaining] = await floatingIps(neutron, kept.publicAddress);
    expect(remaining).toMatchObject({ address: kept.publicAddress, portId: undefined });
    const again = await manager.create(
      { ...request, requested: kept.publicAddress, marker: uniqueName('m') },
      signal,
    );
    expect(again.publicAddress).toBe(kept.publicAddress);
    expect(again.keepsPublic).toBe(true);
    await manager.delete(await manager.keepPublic(again, false, signal), signal);
    expect(await floatingIps(neutron, kept.publicAddress)).toEqual([]);
  });

  test('a floating IP without its port is deleted, unless its port is known', async () => {
    const manager = managerOf('sweep', true);
    const request = { family: 4 as const, requested: undefined, marker: uniqueName('m') };
    const port = await manager.create(request, signal);
    await neutron.ports.delete(port.id, { signal });
    expect(await manager.sweep(new Set([port.id]), noAddresses, signal)).toEqual([]);
    const advertised = new Set([port.publicAddress]);
    expect(await manager.sweep(nothing, advertised, signal)).toEqual([]);
    expect(await manager.sweep(nothing, noAddresses, signal)).toEqual([
      `floating IP ${port.publicAddress}`,
    ]);
  });

  test('a lost port is recreated with its addresses', async () => {
    const manager = managerOf('lost', true);
    const request = { family: 4 as const, requested: undefined };
    const lost = await manager.create({ ...request, marker: uniqueName('m') }, signal);
    await neutron.ports.delete(lost.id, { signal });
    const again = await manager.create(
      { ...request, marker: uniqueName('m'), instead: lost },
      signal,
    );
    expect(again).toEqual({ ...lost, id: again.id });
    expect(again.id).not.toBe(lost.id);
    expect(await manager.sweep(new Set([again.id]), noAddresses, signal)).toEqual([]);
    // The port is created, with or without its address.
    const rival = await manager.create(
      { ...request, marker: uniqueName('m'), instead: again },
      signal,
    );
    expect(rival.address).not.toBe(again.address);
    expect(rival.publicAddress).not.toBe(again.publicAddress);
    for (const port of [again, rival]) await manager.delete(port, signal);
  });

  test('a floating IP that is to be kept is restored when its port is lost, and keeps its mark', async () => {
    const manager = managerOf('kept', true);
    const request = { family: 4 as const, requested: undefined };
    const made = await manager.create({ ...request, marker: uniqueName('m') }, signal);
    const lost = await manager.keepPublic(made, true, signal);
    await neutron.ports.delete(lost.id, { signal });
    const again = await manager.create(
      { ...request, marker: uniqueName('m'), instead: lost },
      signal,
    );
    expect(again).toEqual({ ...lost, id: again.id });
    // The same after it was only disassociated.
    const [floating] = await floatingIps(neutron, again.publicAddress);
    await neutron.floatingIps.dissociate(floating?.id ?? '', { signal });
    const [bare] = await manager.list(nothing, nothing, signal);
    expect(bare).toMatchObject({ id: again.id, publicAddress: again.address });
    if (bare === undefined) return;
    expect(await manager.mend(bare, again.publicAddress, signal)).toEqual(again);
    await manager.delete(await manager.keepPublic(again, false, signal), signal);
  });

  test("another cluster's floating IP can't be requested, even if it is unused", async () => {
    const [left, right] = [managerOf('left', true), managerOf('right', true)];
    const request = { family: 4 as const, requested: undefined };
    const made = await left.create({ ...request, marker: uniqueName('m') }, signal);
    const kept = await left.keepPublic(made, true, signal);
    await left.delete(kept, signal);
    const requested = kept.publicAddress;
    const taking = right.create({ ...request, requested, marker: uniqueName('m') }, signal);
    await expect(taking).rejects.toMatchObject({
      code: 'conflict',
      message: `the floating IP ${requested} belongs to the cluster left`,
    });
    expect(await right.list(nothing, nothing, signal)).toEqual([]);
    // A floating IP of ch-k8s-lbaas names no cluster: it may be another one's. One without marks is free.
    const [floating] = await floatingIps(neutron, requested);
    const describe = (description: string) =>
      neutron.floatingIps.update(floating?.id ?? '', { description }, { signal });
    await describe('Managed by cah-loadbalancer');
    await expect(
      right.create({ ...request, requested, marker: uniqueName('m') }, signal),
    ).rejects.toMatchObject({ code: 'conflict' });
    await describe('for the shop');
    const taken = await right.create({ ...request, requested, marker: uniqueName('m') }, signal);
    expect(taken.publicAddress).toBe(requested);
    // It belonged to the project before, and does so afterwards.
    await right.delete(taken, signal);
    expect(await floatingIps(neutron, requested)).toMatchObject([{ portId: undefined }]);
    await neutron.floatingIps.delete(floating?.id ?? '', { signal });
  });

  test('a second cluster with the same clusterId takes nothing of the first', async () => {
    const [first, second] = [managerOf('same', true, 'uid-1'), managerOf('same', true, 'uid-2')];
    const request = { family: 4 as const, requested: undefined, marker: uniqueName('m') };
    const port = await first.create(request, signal);
    expect(await second.list(nothing, nothing, signal)).toEqual([]);
    expect(await second.find(port.id, signal)).toBeUndefined();
    expect(second.orphans()).toEqual({ orphans: [], otherClusters: ['uid-1'] });
    await second.deleteOrphan({ kind: 'port', id: port.id, mark: 'old' }, signal);
    expect(await first.list(nothing, nothing, signal)).toEqual([port]);
    expect(first.isRecorded(port)).toBe(true);
    // Without its port the floating IP still belongs to the first cluster.
    await neutron.ports.delete(port.id, { signal });
    expect(await second.sweep(nothing, noAddresses, signal)).toEqual([]);
    expect(await floatingIps(neutron, port.publicAddress)).toHaveLength(1);
    expect(await first.sweep(nothing, noAddresses, signal)).toHaveLength(1);
  });

  test('a port that is not recorded is an orphan, with its floating IP', async () => {
    const before = managerOf('restored', true, 'uid-3');
    const request = { family: 4 as const, requested: undefined, marker: uniqueName('m') };
    const port = await before.create(request, signal);
    recordsOf('uid-3').entries.clear();
    const manager = managerOf('restored', true, 'uid-3');
    expect(await manager.list(nothing, nothing, signal)).toEqual([port]);
    expect(manager.isRecorded(port)).toBe(false);
    await neutron.ports.delete(port.id, { signal });
    expect(await manager.sweep(nothing, noAddresses, signal)).toEqual([]);
    const { orphans } = manager.orphans();
    expect(orphans).toMatchObject([{ kind: 'floating-ip', address: port.publicAddress }]);
    for (const orphan of orphans) await manager.deleteOrphan(orphan, signal);
    expect(await floatingIps(neutron, port.publicAddress)).toEqual([]);
  });

  test('a port with a mark of 0.1.0 is adopted if a Service names it, otherwise it is an orphan', async () => {
    const manager = managerOf('upgraded', false, 'uid-4');
    const { id } = await neutron.ports.create(
      {
        networkId: subnet.networkId,
        fixedIps: [{ subnetId: subnet.id }],
        name: `causeway-upgraded-${uniqueName('m')}`,
        description: 'Managed by Causeway for the cluster upgraded',
      },
      { signal },
    );
    expect(await manager.list(nothing, nothing, signal)).toEqual([]);
    expect(manager.orphans().orphans).toMatchObject([{ kind: 'port', id, mark: 'old' }]);
    const [adopted] = await manager.list(new Set([id]), nothing, signal);
    if (adopted === undefined) throw new Error('the port is not listed');
    await manager.record([adopted]);
    await manager.mark(adopted, signal);
    expect(await neutron.ports.get(id, { signal })).toMatchObject({
      description: 'Managed by Causeway for the cluster upgraded, UID uid-4',
    });
    expect(manager.isRecorded(adopted)).toBe(true);
    expect((await manager.list(nothing, nothing, signal)).map((port) => port.id)).toEqual([id]);
    await manager.delete(adopted, signal);
    expect(recordsOf('uid-4').entries.size).toBe(0);
  });

  test('a floating IP that was disassociated or deleted is replaced', async () => {
    const manager = managerOf('mend', true);
    const marker = uniqueName('m');
    const port = await manager.create({ family: 4, requested: undefined, marker }, signal);
    const listed = async () => (await manager.list(nothing, nothing, signal))[0] ?? port;
    expect(await manager.mend(port, port.publicAddress, signal)).toEqual(port);
    const [floating] = await floatingIps(neutron, port.publicAddress);
    await neutron.floatingIps.dissociate(floating?.id ?? '', { signal });
    expect((await listed()).publicAddress).toBe(port.address);
    expect(await manager.mend(await listed(), port.publicAddress, signal)).toEqual(port);
    await neutron.floatingIps.delete(floating?.id ?? '', { signal });
    const mended = await manager.mend(await listed(), port.publicAddress, signal);
    expect(mended.publicAddress).not.toBe(port.address);
    expect(await listed()).toEqual(mended);
    await manager.delete(mended, signal);
    expect(await floatingIps(neutron, mended.publicAddress)).toEqual([]);
  });

  test("the name of a server's port is rejected; a port of ch-k8s-lbaas is adopted", async () => {
    const manager = managerOf('named');
    const spec = { networkId: subnet.networkId, fixedIps: [{ subnetId: subnet.id }] };
    const server = await neutron.ports.create({ ...spec, name: uniqueName('vm') }, { signal });
    const inherited = await neutron.ports.create(
      { ...spec, name: uniqueName('old'), description: 'Managed by cah-loadbalancer' },
      { signal },
    );
    const named = new Set([server.id, inherited.id]);
    const found = await manager.list(named, nothing, signal);
    expect(found.map(({ id }) => id)).toEqual([inherited.id]);
    // Without a Service that names it, it may belong to another cluster.
    expect(await manager.list(nothing, nothing, signal)).toEqual([]);
    for (const { id } of [server, inherited]) await neutron.ports.delete(id, { signal });
  });

  test("a port is deleted if its floating IP can't be created", async () => {
    const manager = new OpenStackPortManager({
      neutron,
      cluster: { id: 'halves', uid: 'uid-of-halves' },
      records: recordsOf('uid-of-halves'),
      subnets: new Map([[4, subnet]]),
      floating: { networkId: subnet.networkId },
    });
    const request = { family: 4 as const, requested: undefined, marker: uniqueName('m') };
    await expect(manager.create(request, signal)).rejects.toBeInstanceOf(CausewayError);
    expect(await manager.list(nothing, nothing, signal)).toEqual([]);
  });

  describe.each(['network', 'single'] as const)('address pairs in the mode %s', (mode) => {
    const [address, other] = ['10.77.0.201', '10.77.0.202'].map(parseAddress) as [Address, Address];
    const makeForwarders = async (limit = 10) => {
      const own = await neutron.ports.create(
        { name: uniqueName('gw'), networkId: subnet.networkId, portSecurityEnabled: true },
        { signal },
      );
      const options = { neutron, mode, limit, networks: [subnet.cidr] };
      const pairWriter = () =>
        new OpenStackAddressPairWriter({ ...options, ports: new Map([['gw1', own.id]]) });
      return { own, pairWriter };
    };
    const pairsOf = async ({ id }: Port) => {
      const { allowedAddressPairs } = await neutron.ports.get(id, { signal });
      return allowedAddressPairs.map(({ prefix }) => formatPrefix(prefix)).sort();
    };

    test("a gateway's port is opened and closed, and other address pairs stay", async () => {
      const { own, pairWriter } = await makeForwarders();
      const allowedAddressPairs = [{ prefix: parsePrefix('192.0.2.0/24') }];
      await neutron.ports.update(own.id, { allowedAddressPairs }, { signal });
      const first = pairWriter();
      expect(first.isOpen('gw1', address)).toBe(false);
      expect(await first.inspect(signal)).toMatchObject([{ gateway: 'gw1', isFine: true }]);
      expect([first.isOpen('gw1', address), first.canShut('gw1')]).toEqual([false, true]);
      await first.open('gw1', [address, other], signal);
      await first.open('gw1', [address], signal);
      expect(first.isOpen('gw1', address)).toBe(true);
      const ours = mode === 'network' ? ['10.77.0.0/24'] : [`${address}/32`, `${other}/32`];
      expect(await pairsOf(own)).toEqual([...ours, '192.0.2.0/24']);
      // Another controller finds it unchanged.
      const second = pairWriter();
      await second.inspect(signal);
      expect(second.isOpen('gw1', other)).toBe(true);
      await second.shut('gw1', [address], signal);
      await second.shut('gw1', [address], signal);
      expect(await pairsOf(own)).toEqual([
        ...(mode === 'network' ? [] : [`${other}/32`]),
        '192.0.2.0/24',
      ]);
      expect(second.isOpen('gw1', other)).toBe(mode === 'single');
      await neutron.ports.delete(own.id, { signal });
    });

    test('input that Neutron would reject is reported before the request', async () => {
      const { own, pairWriter } = await makeForwarders(1);
      const opening = pairWriter().open('gw1', [address, other], signal);
      if (mode === 'network') await opening;
      else await expect(opening).rejects.toMatchObject({ code: 'exhausted' });
      await neutron.ports.delete(own.id, { signal });
    });
  });

  test("two clusters in one project never list each other's ports", async () => {
    const [left, right] = [managerOf('left'), managerOf('right')];
    const request = { family: 4 as const, requested: undefined };
    const port = await left.create({ ...request, marker: uniqueName('m') }, signal);
    expect(await right.list(new Set(), new Set(), signal)).toEqual([]);
    expect(await left.list(new Set(), new Set(), signal)).toEqual([port]);
    await left.delete(port, signal);
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
