import { expect, it } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { describeEveryCloud, type TestCloud, uniqueName } from './clouds.ts';

const call = { signal: new AbortController().signal };
const managedTag = 'cah-loadbalancer.k8s.cloudandheat.com/managed';

async function privateNetwork(cloud: TestCloud) {
  const neutron = new Neutron(cloud.open('demo', {}, { pageSize: 2 }).session());
  const name = uniqueName('net');
  const network = await neutron.networks.create({ name }, { ...call, once: 'name' });
  const subnet = await neutron.subnets.create(
    { name, networkId: network.id, cidr: parsePrefix('10.20.0.0/24') },
    { ...call, once: 'name' },
  );
  return { neutron, network, subnet };
}

async function externalNetwork(neutron: Neutron) {
  const [network] = await collect(neutron.networks.list({ external: true, name: 'public' }, call));
  if (network === undefined) throw new Error('the cloud has no external network');
  return network;
}

await describeEveryCloud('Neutron', {}, (cloud) => {
  it('creates networks and subnets, changes them and deletes them', async () => {
    const { neutron, network, subnet } = await privateNetwork(cloud());
    expect(subnet).toMatchObject({
      networkId: network.id,
      family: 4,
      cidr: { address: '10.20.0.0', length: 24 },
      gateway: '10.20.0.1',
      dhcp: true,
    });
    const changed = await neutron.subnets.update(subnet.id, { dhcp: false }, call);
    expect(changed.dhcp).toBe(false);
    expect((await neutron.networks.get(network.id, call)).subnetIds).toEqual([subnet.id]);
    expect(await neutron.networks.delete(network.id, call)).toBe('deleted');
    expect(await neutron.networks.delete(network.id, call)).toBe('absent');
    await expect(neutron.networks.get(network.id, call)).rejects.toMatchObject({
      code: 'not-found',
      status: 404,
      requestId: expect.stringMatching(/^req-/) as string,
    });
  });

  it('creates ports with fixed addresses, address pairs and without port security', async () => {
    const { neutron, network, subnet } = await privateNetwork(cloud());
    const address = parseAddress('10.20.0.77');
    const port = await neutron.ports.create(
      {
        name: 'gateway',
        networkId: network.id,
        fixedIps: [{ subnetId: subnet.id, address }],
        allowedAddressPairs: [
          { prefix: parsePrefix('192.0.2.7/32') },
          { prefix: parsePrefix('198.51.100.0/24') },
        ],
        deviceOwner: 'causeway:gateway',
      },
      { ...call, once: 'name' },
    );
    expect(port.fixedIps).toEqual([{ subnetId: subnet.id, address }]);
    expect(port.allowedAddressPairs.map(({ prefix }) => prefix)).toEqual([
      parsePrefix('192.0.2.7/32'),
      parsePrefix('198.51.100.0/24'),
    ]);
    expect(port.securityGroupIds).toHaveLength(1);
    const found = await collect(neutron.ports.list({ fixedIp: { address } }, call));
    expect(found.map(({ id }) => id)).toContain(port.id);
    const open = await neutron.ports.update(
      port.id,
      { portSecurityEnabled: false, securityGroupIds: [], allowedAddressPairs: [] },
      call,
    );
    expect(open).toMatchObject({
      portSecurityEnabled: false,
      allowedAddressPairs: [],
      securityGroupIds: [],
    });
    await expect(
      neutron.ports.create(
        { name: 'twin', networkId: network.id, fixedIps: [{ subnetId: subnet.id, address }] },
        call,
      ),
    ).rejects.toMatchObject({ code: 'conflict', status: 409 });
  });

  it('rejects a change that is based on an old revision', async () => {
    const { neutron, network } = await privateNetwork(cloud());
    const port = await neutron.ports.create(
      { name: uniqueName('port'), networkId: network.id },
      call,
    );
    const { revision } = await neutron.ports.get(port.id, call);
    await neutron.ports.update(port.id, { name: 'first' }, { ...call, ifRevision: revision });
    const late = neutron.ports.update(port.id, { name: 'late' }, { ...call, ifRevision: revision });
    await expect(late).rejects.toMatchObject({ status: 412 });
    expect((await neutron.ports.get(port.id, call)).name).toBe('first');
  });

  it('creates many ports in one request and lists them page by page', async () => {
    const { neutron, network } = await privateNetwork(cloud());
    const specs = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, networkId: network.id }));
    const made = await neutron.ports.createMany(specs, { ...call, once: 'name' });
    expect(made.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const listed = await collect(neutron.ports.list({ networkId: network.id }, call));
    expect(listed.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    const again = await neutron.ports.createMany(specs, { ...call, once: 'name', mayExist: true });
    expect(again.map(({ id }) => id)).toEqual(made.map(({ id }) => id));
  });

  it('recognizes the result of an earlier attempt', async () => {
    const { neutron, network } = await privateNetwork(cloud());
    const spec = { name: uniqueName('port'), networkId: network.id };
    const first = await neutron.ports.create(spec, { ...call, once: 'name' });
    const second = await neutron.ports.create(spec, { ...call, once: 'name', mayExist: true });
    expect(second.id).toBe(first.id);
  });

  it('sets tags, and finds by tags', async () => {
    const { neutron, network } = await privateNetwork(cloud());
    const [one, other] = await neutron.ports.createMany(
      ['one', 'other'].map((name) => ({ name, networkId: network.id })),
      call,
    );
    if (one === undefined || other === undefined) throw new Error('no ports');
    await neutron.ports.replaceTags(one.id, [managedTag, 'blue'], call);
    await neutron.ports.addTag(other.id, 'blue', call);
    const ids = async (filter: object) =>
      (await collect(neutron.ports.list({ networkId: network.id, ...filter }, call))).map(
        ({ id }) => id,
      );
    expect(await ids({ tags: [managedTag, 'blue'] })).toEqual([one.id]);
    expect(await ids({ tagsAny: [managedTag, 'green'] })).toEqual([one.id]);
    expect(await ids({ notTags: [managedTag] })).toEqual([other.id]);
    await neutron.ports.removeTag(one.id, managedTag, call);
    expect((await neutron.ports.get(one.id, call)).tags).toEqual(['blue']);
  });

  it('creates floating IPs, associates them with a port, disassociates them and deletes them', async () => {
    const { neutron, network, subnet } = await privateNetwork(cloud());
    const external = await externalNetwork(neutron);
    const name = uniqueName('router');
    const router = await neutron.routers.create(
      { name, externalNetworkId: external.id },
      { ...call, once: 'name' },
    );
    await neutron.addRouterInterface(router.id, subnet.id, call);
    await neutron.addRouterInterface(router.id, subnet.id, call);
    const port = await neutron.ports.create({ name, networkId: network.id }, call);
    const spec = { description: name, floatingNetworkId: external.id };
    const floating = await neutron.floatingIps.create(spec, { ...call, once: 'description' });
    const found = await neutron.floatingIps.create(spec, {
      ...call,
      once: 'description',
      mayExist: true,
    });
    expect(found.id).toBe(floating.id);
    await neutron.floatingIps.addTag(floating.id, managedTag, call);
    const tied = await neutron.floatingIps.associate(floating.id, port.id, call);
    expect(tied).toMatchObject({
      portId: port.id,
      fixedIp: port.fixedIps[0]?.address,
      routerId: router.id,
      tags: [managedTag],
    });
    const byPort = await collect(neutron.floatingIps.list({ portId: port.id }, call));
    expect(byPort.map(({ address }) => address)).toEqual([floating.address]);
    const free = await neutron.floatingIps.dissociate(floating.id, call);
    expect(free.portId).toBeUndefined();
    expect(await neutron.floatingIps.delete(floating.id, call)).toBe('deleted');
    expect(await neutron.removeRouterInterface(router.id, subnet.id, call)).toBe('deleted');
    expect(await neutron.removeRouterInterface(router.id, subnet.id, call)).toBe('absent');
    expect(await neutron.routers.delete(router.id, call)).toBe('deleted');
  });

  it('creates security groups and rules, each rule once', async () => {
    const { neutron } = await privateNetwork(cloud());
    const group = await neutron.securityGroups.create(
      { name: uniqueName('group') },
      { ...call, once: 'name' },
    );
    const spec = {
      securityGroupId: group.id,
      direction: 'ingress',
      family: 4,
      protocol: 'tcp',
      portMin: 80,
      portMax: 81,
      remotePrefix: parsePrefix('192.0.2.0/24'),
    } as const;
    const rule = await neutron.securityGroupRules.create(spec, call);
    expect(rule).toMatchObject(spec);
    await expect(neutron.securityGroupRules.create(spec, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    const again = await neutron.securityGroupRules.create(spec, { ...call, mayExist: true });
    expect(again.id).toBe(rule.id);
    const { rules } = await neutron.securityGroups.get(group.id, call);
    expect(rules.map(({ id }) => id)).toContain(rule.id);
    expect(await neutron.securityGroupRules.delete(rule.id, call)).toBe('deleted');
    expect(await neutron.securityGroups.delete(group.id, call)).toBe('deleted');
  });

  it('observes quotas and reports an exhausted one', async () => {
    const admin = new Neutron(cloud().open('admin').session());
    const session = cloud().open('alt').session();
    const { projectId = '' } = await session.authenticate(call);
    const quota = await admin.setQuota(projectId, { networks: 0, ports: -1 }, call);
    expect(quota).toMatchObject({ networks: 0, ports: undefined });
    await expect(
      new Neutron(session).networks.create({ name: 'one too many' }, call),
    ).rejects.toMatchObject({ code: 'exhausted' });
    expect((await new Neutron(session).quota(projectId, call)).networks).toBe(0);
  });

  it('hides the ports of other projects', async () => {
    const { neutron, network } = await privateNetwork(cloud());
    const port = await neutron.ports.create({ name: 'mine', networkId: network.id }, call);
    const other = new Neutron(cloud().open('alt').session());
    await expect(other.ports.get(port.id, call)).rejects.toMatchObject({ code: 'not-found' });
    expect(await other.ports.delete(port.id, call)).toBe('absent');
    expect((await neutron.ports.get(port.id, call)).id).toBe(port.id);
  });
});
