import { beforeAll, expect, it } from 'vitest';
import { describeEveryCloud, uniqueName } from './clouds.ts';
import { firstOf, memberOf } from './wire-object.ts';
import { expectOctaviaRefusal, unknownId, Wire } from './wire.ts';

await describeEveryCloud('what Octavia says', {}, (cloud) => {
  let wire: Wire;
  let networkId: string;
  let subnetId: string;
  beforeAll(async () => {
    wire = new Wire(cloud().running);
    networkId = await wire.find('/networks?name=private', 'networks');
    subnetId = await wire.find('/subnets?name=private-v4', 'subnets');
  });
  const post = (path: string, kind: string, values: object, account?: 'alt' | 'admin') =>
    wire.balancing('POST', path, { [kind]: values }, account);
  const create = async (values: object) => {
    const answer = await post('/loadbalancers', 'loadbalancer', {
      vip_subnet_id: subnetId,
      ...values,
    });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.loadbalancer;
  };
  const remove = async (id: string) => {
    await wire.settled(id);
    const answer = await wire.balancing('DELETE', `/loadbalancers/${id}?cascade=true`);
    expect(answer.status, answer.text).toBe(204);
    expect(await wire.settled(id)).toBe('gone');
  };

  it('lists only its versions without a token', async () => {
    const root = await wire.send('GET', `${cloud().running.loadBalancerUrl}/`);
    expect(root.body.versions.at(-1)).toMatchObject({ id: 'v2.26', status: 'CURRENT' });
    const refused = await wire.send(
      'GET',
      `${cloud().running.loadBalancerUrl}/v2/lbaas/loadbalancers`,
    );
    expect(refused.status).toBe(401);
    const unknown = await wire.balancing('GET', '/nope');
    expect(unknown.status).toBe(404);
    expect(unknown.headers['content-type']).toMatch(/^text\/plain/);
  });

  it('offers providers, flavors and availability zones', async () => {
    const providers = await wire.balancing('GET', '/providers');
    expect(firstOf(providers.body.providers).name).toBe('amphora');
    const flavors = await wire.balancing('GET', '/flavors');
    expect(flavors.body.flavors[0]).toMatchObject({ name: 'single', enabled: true });
    const zones = await wire.balancing('GET', '/availabilityzones');
    expect(zones.body.availability_zones[0]).toMatchObject({ name: 'zone-a', enabled: true });
  });

  it.each([
    [`/loadbalancers/${unknownId}`, 404, /Load Balancer 0.* not found/],
    ['/loadbalancers/nope', 404, /Load Balancer nope not found/],
    [`/loadbalancers/${unknownId}/status`, 404, /Load Balancer 0.* not found/],
    [`/listeners/${unknownId}`, 404, /Listener 0.* not found/],
    [`/pools/${unknownId}`, 404, /Pool 0.* not found/],
    [`/pools/${unknownId}/members`, 404, /Pool 0.* not found/],
    [`/healthmonitors/${unknownId}`, 404, /Health Monitor 0.* not found/],
    [`/loadbalancers?limit=1&marker=${unknownId}`, 400, /pagination marker '0.*' is not valid/],
    ['/loadbalancers?limit=x', 400, /pagination limit 'x' is not valid/],
    ['/pools?zzz=1', 400, /either duplicate or invalid/],
    ['/pools?sort=zzz', 400, /sort key 'zzz' is not valid/],
    ['/loadbalancers?project_id=other', 403, /Policy does not allow/],
  ])('rejects GET %s', async (path, status, message) => {
    expectOctaviaRefusal(await wire.balancing('GET', path), { name: path, status, message });
  });

  it('rejects invalid load balancers', async () => {
    const vip = { vip_subnet_id: subnetId };
    const publicSubnets = await wire.network('GET', '/subnets?name=public-v4', undefined, 'admin');
    const { id: publicSubnet } = firstOf(publicSubnets.body.subnets);
    const table: [object, number, RegExp][] = [
      [{}, 400, /VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id/],
      [{ ...vip, zz: 1 }, 400, /Unknown attribute for argument load_balancer.loadbalancer: zz/],
      [{ vip_subnet_id: 'x' }, 400, /vip_subnet_id. Value: 'x'. Value should be UUID format/],
      [{ vip_subnet_id: unknownId }, 400, /Subnet 0.* not found/],
      [{ vip_port_id: unknownId }, 400, /Port 0.* not found/],
      [{ ...vip, provider: 'none' }, 400, /Provider 'none' is not enabled/],
      [{ ...vip, flavor_id: unknownId }, 400, /selected flavor is not allowed/],
      [{ ...vip, availability_zone: 'none' }, 400, /Invalid availability zone/],
      [{ ...vip, vip_address: '9.9' }, 400, /Value should be IPv4 or IPv6 format/],
      [{ ...vip, vip_address: '9.9.9.9' }, 500, /reports error: IP address 9.9.9.9 is not a valid/],
      [{ ...vip, vip_address: '10.10.0.1' }, 500, /already allocated in subnet/],
      [{ ...vip, project_id: 'other' }, 403, /Policy does not allow/],
      [{ ...vip, additional_vips: [{}] }, 400, /subnet_id.*Mandatory field missing/],
      [{ ...vip, additional_vips: [{ subnet_id: subnetId }] }, 400, /Duplicate VIP subnet/],
      [
        { ...vip, additional_vips: [{ subnet_id: publicSubnet }] },
        400,
        /belong to the same network/,
      ],
      [
        { ...vip, additional_vips: [{ subnet_id: unknownId }] },
        500,
        /subnet not found \(subnet id: 0/,
      ],
      [{ ...vip, name: 'x'.repeat(256) }, 400, /maximum character requirement of 255/],
      [
        { ...vip, listeners: [{ protocol: 'TCP', protocol_port: 1, default_pool: pool('') }] },
        400,
        /Pools must be named/,
      ],
      [{ ...vip, pools: [pool('a'), pool('a')] }, 400, /Pool names must be unique/],
    ];
    for (const [values, status, message] of table) {
      const answer = await post('/loadbalancers', 'loadbalancer', values);
      expectOctaviaRefusal(answer, { name: JSON.stringify(values), status, message });
    }
    const malformed = await wire.balancing('POST', '/loadbalancers', '{x');
    expect(malformed.body.faultstring).toMatch(/not in valid JSON format/);
    const foreign = await post('/loadbalancers', 'loadbalancer', vip, 'alt');
    expect(foreign.status, 'a subnet of others').toBe(400);
    const query = `/ports?network_id=${networkId}&device_owner=Octavia`;
    const left = (await wire.network('GET', query)).body.ports;
    expect(left, 'a refused tree leaves its port behind').toHaveLength(2);
    for (const port of left) await wire.network('DELETE', `/ports/${port.id}`);
  });

  const pool = (name: string) => ({
    ...(name === '' ? {} : { name }),
    protocol: 'TCP',
    lb_algorithm: 'ROUND_ROBIN',
  });

  it('gives a load balancer a second address, on the same port and of another subnet', async () => {
    const subnet = await wire.make('/subnets', 'subnet', {
      network_id: networkId,
      name: 'second',
      ip_version: 6,
      cidr: 'fd00:77::/64',
    });
    const additional = [{ subnet_id: subnet.id, ip_address: 'fd00:77::9' }];
    const { id, vip_port_id } = await create({ additional_vips: additional });
    expect(await wire.settled(id)).toBe('ACTIVE');
    const { loadbalancer } = (await wire.balancing('GET', `/loadbalancers/${id}`)).body;
    expect(loadbalancer).toMatchObject({ vip_subnet_id: subnetId, additional_vips: additional });
    const { port } = (await wire.network('GET', `/ports/${vip_port_id}`)).body;
    const fixed = [{ subnet_id: subnetId, ip_address: loadbalancer.vip_address }, ...additional];
    expect(port.fixed_ips).toHaveLength(2);
    expect(port.fixed_ips).toEqual(expect.arrayContaining(fixed));
    await remove(id);
    expect((await wire.network('DELETE', `/subnets/${subnet.id}`)).status).toBe(204);
  });

  it('separates children: a pool survives its listener, members are deleted with their pool', async () => {
    const port = await wire.make('/ports', 'port', { network_id: networkId, name: 'mine' });
    const answer = await post('/loadbalancers', 'loadbalancer', { vip_port_id: port.id });
    const { id } = answer.body.loadbalancer;
    expect(answer.body.loadbalancer.vip_address).toBe(port.fixed_ips[0]?.ip_address);
    await wire.settled(id);
    const made = async (path: string, kind: string, values: object) => {
      const result = await post(path, kind, values);
      expect(result.status, result.text).toBe(201);
      await wire.settled(id);
      return memberOf(result.body, kind).id;
    };
    const listenerId = await made('/listeners', 'listener', {
      loadbalancer_id: id,
      protocol: 'UDP',
      protocol_port: 53,
    });
    const mismatch = await post('/pools', 'pool', { ...pool('x'), listener_id: listenerId });
    expectOctaviaRefusal(mismatch, {
      name: 'a TCP pool behind UDP',
      status: 400,
      message: /pool protocol 'TCP' is invalid while the listener protocol is 'UDP'/,
    });
    const poolId = await made('/pools', 'pool', {
      ...pool('dns'),
      protocol: 'UDP',
      listener_id: listenerId,
    });
    const memberId = await made(`/pools/${poolId}/members`, 'member', {
      address: '10.10.6.1',
      protocol_port: 53,
    });
    const listener = await wire.balancing('GET', `/listeners/${listenerId}`);
    expect(listener.body.listener.default_pool_id).toBe(poolId);
    expect((await wire.balancing('DELETE', `/listeners/${listenerId}`)).status).toBe(204);
    await wire.settled(id);
    const kept = await wire.balancing('GET', `/pools/${poolId}`);
    expect(kept.body.pool).toMatchObject({ listeners: [], members: [{ id: memberId }] });
    expect((await wire.balancing('DELETE', `/pools/${poolId}`)).status).toBe(204);
    await wire.settled(id);
    const gone = await wire.balancing('GET', `/pools/${poolId}/members/${memberId}`);
    expect(gone.status).toBe(404);
    await remove(id);
    const brought = await wire.network('GET', `/ports/${port.id}`);
    expect(brought.status, 'a port that the user brought stays').toBe(200);
    await wire.network('DELETE', `/ports/${port.id}`);
  });

  it('leaves a failed load balancer in ERROR, where it can only be deleted', async () => {
    await cloud().running.setComputeBroken(true);
    const { id, vip_port_id } = await create({
      name: uniqueName('broken'),
      listeners: [{ name: 'l', protocol: 'TCP', protocol_port: 80 }],
    });
    expect(await wire.settled(id)).toBe('ERROR');
    await cloud().running.setComputeBroken(false);
    const path = `/loadbalancers/${id}`;
    const change = await wire.balancing('PUT', path, { loadbalancer: { name: 'x' } });
    expectOctaviaRefusal(change, { name: 'a change', status: 409, message: /Invalid state ERROR/ });
    const child = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 81 };
    expect((await post('/listeners', 'listener', child)).status).toBe(409);
    const tree = (await wire.balancing('GET', `${path}/status`)).body.statuses.loadbalancer;
    expect(firstOf(tree.listeners).provisioning_status).toBe('PENDING_CREATE');
    expect((await wire.balancing('DELETE', path)).status).toBe(400);
    await remove(id);
    expect((await wire.network('GET', `/ports/${vip_port_id}`)).status).toBe(404);
  });

  it('enforces quotas with 403', async () => {
    const { project_id: project } = (await wire.network('GET', `/networks/${networkId}`)).body
      .network;
    const path = `/quotas/${project}`;
    expect((await wire.balancing('GET', path)).body.quota).toMatchObject({ load_balancer: -1 });
    expect((await wire.balancing('PUT', path, { quota: { load_balancer: 0 } })).status).toBe(403);
    const set = await wire.balancing('PUT', path, { quota: { load_balancer: 0 } }, 'admin');
    expect(set.status).toBe(202);
    const over = await post('/loadbalancers', 'loadbalancer', { vip_subnet_id: subnetId });
    expectOctaviaRefusal(over, {
      name: 'one too many',
      status: 403,
      message: /Quota has been met for resources: Load Balancer/,
    });
    expect((await wire.balancing('DELETE', path, undefined, 'admin')).status).toBe(202);
  });
});
