import { beforeAll, expect, it } from 'vitest';
import { waitFor } from '../../services/wait-for.ts';
import { describeEveryCloud, uniqueName } from './clouds.ts';
import { firstOf, type WireObject } from './wire-object.ts';
import { expectOctaviaRefusal, unknownId, Wire, type WireAnswer } from './wire.ts';

await describeEveryCloud('a load balancer with everything below it', {}, (cloud) => {
  let wire: Wire;
  let networkId: string;
  let subnetId: string;
  let id: string;
  let listenerId: string;
  let poolId: string;
  let created: WireObject;
  let release: (() => void) | undefined;
  const post = (path: string, kind: string, values: object) =>
    wire.balancing('POST', path, { [kind]: values });
  const pool = (name: string) => ({ name, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' });
  const below = async () => {
    const tree = await wire.balancing('GET', `/loadbalancers/${id}/status`);
    return tree.body.statuses.loadbalancer;
  };
  beforeAll(async () => {
    wire = new Wire(cloud().running);
    networkId = await wire.find('/networks?name=private', 'networks');
    subnetId = await wire.find('/subnets?name=private-v4', 'subnets');
    release = cloud().running.holdProvisioning?.();
    const answer = await post('/loadbalancers', 'loadbalancer', {
      vip_subnet_id: subnetId,
      name: uniqueName('full'),
      tags: ['a', 'b/c'],
      availability_zone: 'zone-a',
      listeners: [
        {
          name: 'web',
          protocol: 'TCP',
          protocol_port: 80,
          default_pool: {
            ...pool('web'),
            members: [{ address: '10.10.6.1', protocol_port: 80 }],
            healthmonitor: { type: 'TCP', delay: 5, timeout: 3, max_retries: 3 },
          },
        },
        { name: 'again', protocol: 'TCP', protocol_port: 81, default_pool: { name: 'web' } },
      ],
    });
    expect(answer.status, answer.text).toBe(201);
    created = answer.body.loadbalancer;
    id = created.id;
    poolId = firstOf(created.pools).id;
    listenerId = firstOf(created.listeners.filter(({ name }) => name === 'web')).id;
  });

  it('is locked until it is ACTIVE', async () => {
    expect(created).toMatchObject({
      provisioning_status: 'PENDING_CREATE',
      operating_status: 'OFFLINE',
      provider: 'amphora',
      availability_zone: 'zone-a',
      tags: ['a', 'b/c'],
      vip_subnet_id: subnetId,
      vip_network_id: networkId,
    });
    expect(created.pools).toHaveLength(1);
    expect(firstOf(created.pools).members[0]).toMatchObject({ address: '10.10.6.1', weight: 1 });
    const path = `/loadbalancers/${id}`;
    const locked: [Promise<WireAnswer>, RegExp][] = [
      [wire.balancing('PUT', path, { loadbalancer: {} }), /Invalid state PENDING_CREATE/],
      [wire.balancing('DELETE', `${path}?cascade=true`), /Invalid state PENDING_CREATE/],
      [
        post('/listeners', 'listener', {
          loadbalancer_id: id,
          protocol: 'TCP',
          protocol_port: 9,
        }),
        /Load Balancer .* is immutable/,
      ],
      [post('/pools', 'pool', { loadbalancer_id: id, ...pool('x') }), /is immutable/],
      [
        post(`/pools/${poolId}/members`, 'member', { address: '10.10.6.2', protocol_port: 80 }),
        /Pool .* is immutable/,
      ],
    ];
    for (const [asked, message] of locked) {
      expectOctaviaRefusal(await asked, { name: 'a locked write', status: 409, message });
    }
    release?.();
    expect(await wire.settled(id)).toBe('ACTIVE');
  });

  it('shows a tree in which all is ACTIVE, and ONLINE a little later', async () => {
    const tree = await waitFor('ONLINE', async () => {
      const seen = await below();
      return seen.operating_status === 'ONLINE' ? seen : undefined;
    });
    expect(tree.listeners).toHaveLength(2);
    const { pools } = firstOf(tree.listeners);
    expect(pools[0]).toMatchObject({
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
      health_monitor: { type: 'TCP', provisioning_status: 'ACTIVE' },
      members: [{ address: '10.10.6.1', protocol_port: 80, operating_status: 'ONLINE' }],
    });
  });

  it('has its own port, and Octavia has another beside it', async () => {
    const vip = (await wire.network('GET', `/ports/${created.vip_port_id}`)).body.port;
    expect(vip).toMatchObject({
      name: `octavia-lb-${id}`,
      device_id: `lb-${id}`,
      device_owner: 'Octavia',
      project_id: created.project_id,
    });
    expect(vip.fixed_ips[0]?.ip_address).toBe(created.vip_address);
    const query = `/ports?network_id=${networkId}&device_owner=Octavia`;
    const others = (await wire.network('GET', query)).body.ports.filter(
      ({ project_id }) => project_id !== created.project_id,
    );
    expect(firstOf(others).name).toMatch(/^octavia-lb-vrrp-/);
    const pairs = others.flatMap((each) =>
      each.allowed_address_pairs.map(({ ip_address }) => ip_address),
    );
    expect(pairs).toContain(created.vip_address);
    const used = await post('/loadbalancers', 'loadbalancer', {
      vip_port_id: created.vip_port_id,
    });
    expectOctaviaRefusal(used, { name: 'its port', status: 400, message: /is already used by/ });
  });

  it('is inaccessible to other projects', async () => {
    for (const path of [
      `/loadbalancers/${id}`,
      `/loadbalancers/${id}/status`,
      `/listeners/${listenerId}`,
      `/pools/${poolId}`,
      `/pools/${poolId}/members`,
    ]) {
      const answer = await wire.balancing('GET', path, undefined, 'alt');
      expectOctaviaRefusal(answer, { name: path, status: 403, message: /Policy does not allow/ });
    }
    const list = await wire.balancing('GET', '/loadbalancers', undefined, 'alt');
    expect(list.body).toEqual({ loadbalancers: [], loadbalancers_links: [] });
  });

  it('rejects invalid children', async () => {
    const listener = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 90 };
    const member = { address: '10.10.6.9', protocol_port: 80 };
    const members = `/pools/${poolId}/members`;
    const monitor = { pool_id: poolId, type: 'TCP', delay: 5, timeout: 3, max_retries: 3 };
    const table: [string, string, object, number, RegExp][] = [
      ['/listeners', 'listener', { ...listener, protocol_port: 80 }, 409, /already using protocol/],
      ['/listeners', 'listener', { ...listener, protocol: 'X' }, 400, /should be one of/],
      ['/listeners', 'listener', { ...listener, protocol_port: 0 }, 400, /greater or equal to 1/],
      ['/listeners', 'listener', { protocol: 'TCP', protocol_port: 1 }, 400, /Mandatory field/],
      ['/listeners', 'listener', { ...listener, loadbalancer_id: unknownId }, 404, /not found/],
      [
        '/listeners',
        'listener',
        { ...listener, default_pool_id: unknownId },
        404,
        /Pool .* not found/,
      ],
      [
        '/listeners',
        'listener',
        { ...listener, allowed_cidrs: ['2001:db8::/32'] },
        400,
        /IP version incompatible with VIP/,
      ],
      ['/pools', 'pool', { ...pool('x'), listener_id: listenerId }, 409, /already has a default/],
      ['/pools', 'pool', pool('x'), 400, /at least one of: loadbalancer_id, listener_id/],
      [
        '/pools',
        'pool',
        { ...pool('x'), loadbalancer_id: id, lb_algorithm: 'SOURCE_IP_PORT' },
        501,
        /does not support a requested option/,
      ],
      [
        '/pools',
        'pool',
        { ...pool('x'), loadbalancer_id: id, session_persistence: { type: 'APP_COOKIE' } },
        400,
        /cookie_name/,
      ],
      [members, 'member', { ...member, address: '10.10.6.1' }, 409, /is already using ip/],
      [members, 'member', { ...member, address: 'x' }, 400, /IPv4 or IPv6 format/],
      [members, 'member', { ...member, subnet_id: unknownId }, 400, /Subnet .* not found/],
      [members, 'member', { ...member, weight: 257 }, 400, /lower or equal to 256/],
      ['/healthmonitors', 'healthmonitor', monitor, 409, /already has a health monitor/],
      ['/healthmonitors', 'healthmonitor', { ...monitor, type: 'Q' }, 400, /should be one of/],
      ['/healthmonitors', 'healthmonitor', { pool_id: poolId, type: 'TCP' }, 400, /Mandatory/],
      ['/healthmonitors', 'healthmonitor', { ...monitor, max_retries: 11 }, 400, /equal to 10/],
    ];
    for (const [path, kind, values, status, message] of table) {
      const answer = await post(path, kind, values);
      expectOctaviaRefusal(answer, { name: JSON.stringify(values), status, message });
    }
    const fixed: [string, object, RegExp][] = [
      [`/loadbalancers/${id}`, { loadbalancer: { vip_address: '10.10.0.9' } }, /Unknown attribute/],
      [`/listeners/${listenerId}`, { listener: { protocol: 'HTTP' } }, /Unknown attribute/],
      [`/pools/${poolId}`, { pool: { protocol: 'HTTP' } }, /Unknown attribute/],
    ];
    for (const [path, body, message] of fixed) {
      const answer = await wire.balancing('PUT', path, body);
      expectOctaviaRefusal(answer, { name: path, status: 400, message });
    }
    expect((await wire.balancing('GET', `/loadbalancers/${id}`)).body.loadbalancer).toMatchObject({
      provisioning_status: 'ACTIVE',
    });
  });

  it('accepts members in batches, and locks even without a difference', async () => {
    const path = `/pools/${poolId}/members`;
    const batch = async (members: object[], query = '') => {
      const answer = await wire.balancing('PUT', `${path}${query}`, { members });
      expect(answer.status, answer.text).toBe(202);
      expect(answer.text).toBe('');
      const seen = await wire.balancing('GET', `/loadbalancers/${id}`);
      expect(seen.body.loadbalancer.provisioning_status).toMatch(/PENDING_UPDATE|ACTIVE/);
      await wire.settled(id);
      const list = await wire.balancing('GET', path);
      return list.body.members.map((each) => `${each.address}=${each.weight}`).sort();
    };
    const one = { address: '10.10.6.1', protocol_port: 80 };
    const two = { address: '10.10.6.2', protocol_port: 80, weight: 7 };
    expect(await batch([one, two])).toEqual(['10.10.6.1=1', '10.10.6.2=7']);
    expect(await batch([{ ...one, weight: 3 }], '?additive_only=true')).toEqual([
      '10.10.6.1=3',
      '10.10.6.2=7',
    ]);
    expect(await batch([one])).toEqual(['10.10.6.1=1']);
    const bad = await wire.balancing('PUT', path, { members: [{ address: 'x' }] });
    expect(bad.status).toBe(400);
  });

  it('follows the health of its members', async () => {
    await cloud().running.setMemberDown('10.10.6.1:80');
    const down = await waitFor('the pool to fail', async () => {
      const seen = await below();
      return seen.operating_status === 'ERROR' ? seen : undefined;
    });
    expect(firstOf(down.listeners).pools[0]).toMatchObject({
      operating_status: 'ERROR',
      members: [{ operating_status: 'ERROR' }],
    });
    await cloud().running.setMemberDown('10.10.6.1:80', false);
    await waitFor('the pool to recover', async () => (await below()).operating_status === 'ONLINE');
  });

  it('lists in pages with links that drop the filters', async () => {
    const list = (query: string) => wire.balancing('GET', `/listeners${query}`);
    const names = (answer: WireAnswer) => answer.body.listeners.map(({ name }) => name);
    const rels = (answer: WireAnswer) => answer.body.listeners_links.map(({ rel }) => rel).sort();
    const all = await list(`?loadbalancer_id=${id}`);
    expect(names(all).sort()).toEqual(['again', 'web']);
    expect(all.body.listeners_links).toEqual([]);
    const first = await list(`?loadbalancer_id=${id}&limit=1`);
    expect(rels(first)).toEqual(['next']);
    const next = new URL(firstOf(first.body.listeners_links).href);
    expect([...next.searchParams.keys()].sort()).toEqual(['limit', 'marker']);
    const marker = firstOf(first.body.listeners).id;
    const second = await list(`?loadbalancer_id=${id}&limit=1&marker=${marker}`);
    expect(names(second)).not.toEqual(names(first));
    expect(rels(second)).toEqual(['next', 'previous']);
    const last = firstOf(second.body.listeners).id;
    const beyond = await list(`?loadbalancer_id=${id}&limit=1&marker=${last}`);
    expect(beyond.body).toEqual({ listeners: [], listeners_links: [] });
    const sorted = await list(`?loadbalancer_id=${id}&sort=protocol_port:desc`);
    expect(names(sorted)).toEqual(['again', 'web']);
    for (const query of ['?limit=0', '?limit=-1']) expect((await list(query)).status).toBe(500);
    for (const query of ['?zzz=1', '?sort=zzz']) expect((await list(query)).status).toBe(400);
    const tagged = async (query: string) =>
      (await wire.balancing('GET', `/loadbalancers?id=${id}&${query}`)).body.loadbalancers.length;
    expect(await tagged('tags=a,b/c')).toBe(1);
    expect(await tagged('tags=a&tags=none')).toBe(0);
    expect(await tagged('tags-any=a,none')).toBe(1);
    expect(await tagged('not-tags=a')).toBe(0);
    const some = await wire.balancing('GET', `/loadbalancers?id=${id}&fields=id`);
    expect(some.body.loadbalancers).toEqual([{ id }]);
  });

  it('is deleted only with its children, all at once', async () => {
    const path = `/loadbalancers/${id}`;
    expectOctaviaRefusal(await wire.balancing('DELETE', path), {
      name: 'a delete without cascade',
      status: 400,
      message: /it has children/,
    });
    const floating = await wire.make('/floatingips', 'floatingip', {
      floating_network_id: await wire.find('/networks?name=public', 'networks'),
      port_id: created.vip_port_id,
    });
    expect((await wire.balancing('DELETE', `${path}?cascade=true`)).status).toBe(204);
    const again = await wire.balancing('DELETE', `${path}?cascade=true`);
    expect([409, 404]).toContain(again.status);
    expect(await wire.settled(id)).toBe('gone');
    expect((await wire.balancing('GET', `/listeners/${listenerId}`)).status).toBe(404);
    expect((await wire.network('GET', `/ports/${created.vip_port_id}`)).status).toBe(404);
    const freed = await wire.network('GET', `/floatingips/${floating.id}`);
    expect(freed.body.floatingip.port_id).toBeNull();
    await wire.network('DELETE', `/floatingips/${floating.id}`);
    const orphan = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 80 };
    const late = await post('/listeners', 'listener', orphan);
    expect(late.status, 'a child of what is gone').toBe(409);
    const query = `/ports?network_id=${networkId}&device_owner=Octavia`;
    expect((await wire.network('GET', query)).body.ports).toEqual([]);
  });
});
