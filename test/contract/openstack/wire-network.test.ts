import { beforeAll, describe, expect, it } from 'vitest';
import { describeEveryCloud, uniqueName } from './clouds.ts';
import { firstOf, listOf, namesOf } from './wire-object.ts';
import { expectNeutronRefusal, unknownId, Wire, type WireAnswer } from './wire.ts';

await describeEveryCloud('what Neutron says', {}, (cloud) => {
  let wire: Wire;
  let networkId: string;
  let subnetId: string;
  let externalId: string;
  beforeAll(async () => {
    wire = new Wire(cloud().running);
    networkId = await wire.find('/networks?name=private', 'networks');
    subnetId = await wire.find('/subnets?name=private-v4', 'subnets');
    externalId = await wire.find('/networks?name=public', 'networks');
  });
  const ids = (answer: WireAnswer, collection: string): string[] =>
    listOf(answer.body, collection).map(({ id }) => id);
  const port = (values: object, account?: 'alt' | 'admin') =>
    wire.network('POST', '/ports', { port: values }, account);

  it('requires a token before anything else', async () => {
    const answer = await wire.send('GET', `${cloud().running.networkUrl}/v2.0/nope`);
    expect(answer.status).toBe(401);
    expect(answer.body.error.message).toMatch(/requires authentication/);
    expect(answer.headers['www-authenticate']).toMatch(/^Keystone uri=/);
    const root = await wire.send('GET', `${cloud().running.networkUrl}/`);
    expect(root.body.versions[0]).toMatchObject({ id: 'v2.0', status: 'CURRENT' });
  });

  it('shows a tenant its own, shared and external networks', async () => {
    const names = async (path: string, collection: string) => {
      const answer = await wire.network('GET', path, undefined, 'alt');
      return namesOf(listOf(answer.body, collection));
    };
    expect(await names('/networks', 'networks')).toEqual(['public']);
    expect(await names('/subnets', 'subnets')).toEqual([]);
    expect(await names('/security-groups', 'security_groups')).toEqual(['default']);
    const refused = await wire.network('GET', `/networks/${networkId}`, undefined, 'alt');
    expectNeutronRefusal(refused, {
      name: 'a network of others',
      status: 404,
      type: 'NetworkNotFound',
      message: /could not be found/,
    });
    const external = await wire.network('DELETE', `/networks/${externalId}`);
    expectNeutronRefusal(external, {
      name: 'deleting a network that is only visible',
      status: 403,
      type: 'PolicyNotAuthorized',
      message: /rule:delete_network/,
    });
  });

  it.each([
    ['/ports/nope', 404, 'PortNotFound', /Port nope could not be found/],
    ['/nope', 404, 'HTTPNotFound', /resource could not be found/],
    ['/ports?limit=-1', 400, 'BadRequest', /Limit must be an integer 0 or greater/],
    ['/ports?limit=x', 400, 'BadRequest', /Limit must be an integer/],
    [`/ports?limit=1&marker=${unknownId}`, 404, 'PortNotFound', /could not be found/],
    ['/ports?zzz=1', 400, 'HTTPBadRequest', /\['zzz'\] is invalid attribute for filtering/],
    [
      '/ports?sort_key=name',
      400,
      'HTTPBadRequest',
      /number of sort_keys and sort_dirs must be same/,
    ],
    [
      '/ports?sort_key=zz&sort_dir=asc',
      400,
      'HTTPBadRequest',
      /\['zz'\] is invalid attribute for sort/,
    ],
    ['/floatingips/x', 404, 'FloatingIPNotFound', /Floating IP x could not be found/],
    ['/routers/x', 404, 'RouterNotFound', /Router x could not be found/],
    ['/security-groups/x', 404, 'SecurityGroupNotFound', /Security group x does not exist/],
    [
      `/ports/${unknownId}/tags`,
      404,
      'TagResourceNotFound',
      /Resource ports .* could not be found/,
    ],
  ])('rejects GET %s', async (path, status, type, message) => {
    const answer = await wire.network('GET', path);
    expectNeutronRefusal(answer, { name: path, status, type, message });
  });

  it('rejects invalid ports', async () => {
    const table: [object | string, number, string, RegExp][] = [
      [{}, 400, 'HTTPBadRequest', /Required attribute 'network_id' not specified/],
      [{ network_id: 'x' }, 400, 'HTTPBadRequest', /'x' is not a valid UUID/],
      [{ network_id: unknownId }, 404, 'NetworkNotFound', /could not be found/],
      [{ network_id: networkId, zz: 1 }, 400, 'HTTPBadRequest', /Unrecognized attribute\(s\) 'zz'/],
      [{ network_id: networkId, name: 1 }, 400, 'HTTPBadRequest', /'1' is not a valid string/],
      [{ network_id: networkId, name: 'x'.repeat(256) }, 400, 'HTTPBadRequest', /length of 255/],
      [{ network_id: networkId, project_id: 'x' }, 400, 'HTTPBadRequest', /requires admin/],
      [{ network_id: externalId }, 403, 'HTTPForbidden', /not allowed to create port/],
      [
        { network_id: networkId, fixed_ips: [{ subnet_id: unknownId }] },
        404,
        'SubnetNotFound',
        /could not be found/,
      ],
      [
        { network_id: networkId, fixed_ips: [{ subnet_id: subnetId, ip_address: '192.0.2.1' }] },
        400,
        'InvalidIpForSubnet',
        /not a valid IP for the specified subnet/,
      ],
      [
        { network_id: networkId, fixed_ips: [{ ip_address: '192.0.2.1' }] },
        400,
        'InvalidIpForNetwork',
        /not a valid IP for any of the subnets/,
      ],
      [
        { network_id: networkId, fixed_ips: [{ ip_address: '10.10.0.999' }] },
        400,
        'HTTPBadRequest',
        /is not a valid IP address/,
      ],
      [
        { network_id: networkId, fixed_ips: [{ subnet_id: subnetId, ip_address: '10.10.0.1' }] },
        409,
        'IpAddressAlreadyAllocated',
        /already allocated in subnet/,
      ],
    ];
    for (const [values, status, type, message] of table) {
      const answer = await port(values as object);
      expectNeutronRefusal(answer, { name: JSON.stringify(values), status, type, message });
    }
    const other = await port({ network_id: networkId }, 'alt');
    expect(other.status).toBe(404);
    const malformed = await wire.network('POST', '/ports', '{x');
    expect(malformed.body.NeutronError?.message).toMatch(/Body contains invalid data/);
    const empty = await wire.network('POST', '/ports', {});
    expect(empty.body.NeutronError?.message).toMatch(/Unable to find 'port' in request body/);
  });

  it('assigns every address of the pools once, and no more', async () => {
    const network = await wire.make('/networks', 'network', { name: uniqueName('small') });
    const subnet = await wire.make('/subnets', 'subnet', {
      network_id: network.id,
      ip_version: 4,
      cidr: '10.50.0.0/29',
    });
    expect(subnet).toMatchObject({
      gateway_ip: '10.50.0.1',
      allocation_pools: [{ start: '10.50.0.2', end: '10.50.0.6' }],
    });
    const taken: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const made = await wire.make('/ports', 'port', { network_id: network.id });
      taken.push(firstOf(made.fixed_ips).ip_address);
    }
    expect(taken.sort()).toEqual(['10.50.0.2', '10.50.0.3', '10.50.0.4', '10.50.0.5', '10.50.0.6']);
    const exhausted = {
      name: 'no address left',
      status: 409,
      type: 'IpAddressGenerationFailure',
      message: /No more IP addresses available on network/,
    };
    expectNeutronRefusal(await port({ network_id: network.id }), exhausted);
    const without = { network_id: network.id, fixed_ips: [] };
    const bulk = { ports: [{ ...without, name: 'first' }, { network_id: network.id }] };
    expectNeutronRefusal(await wire.network('POST', '/ports', bulk), exhausted);
    const left = await wire.network('GET', `/ports?network_id=${network.id}&name=first`);
    expect(left.body.ports, 'a failed bulk request leaves nothing').toEqual([]);
    const inUse = await wire.network('DELETE', `/networks/${network.id}`);
    expectNeutronRefusal(inUse, {
      name: 'a network in use',
      status: 409,
      type: 'NetworkInUse',
      message: /ports still in use on the network/,
    });
    const all = await wire.network('GET', `/ports?network_id=${network.id}`);
    for (const each of ids(all, 'ports')) await wire.network('DELETE', `/ports/${each}`);
    expect((await wire.network('DELETE', `/networks/${network.id}`)).status).toBe(204);
  });

  it('gives a port one address of each family, and one of every SLAAC subnet', async () => {
    const network = await wire.make('/networks', 'network', { name: uniqueName('dual') });
    const make = (values: object) =>
      wire.make('/subnets', 'subnet', { network_id: network.id, ...values });
    await make({ ip_version: 4, cidr: '10.60.0.0/24' });
    const stateful = await make({ ip_version: 6, cidr: '2001:db8:5::/64' });
    expect(stateful.gateway_ip).toBe('2001:db8:5::');
    expect(stateful.allocation_pools).toEqual([
      { start: '2001:db8:5::1', end: '2001:db8:5:0:ffff:ffff:ffff:ffff' },
    ]);
    const mode = { ipv6_ra_mode: 'slaac', ipv6_address_mode: 'slaac' };
    await make({ ip_version: 6, cidr: '2001:db8:6::/64', ...mode });
    const made = await wire.make('/ports', 'port', { network_id: network.id });
    const found = made.fixed_ips.map(({ ip_address }) => ip_address);
    expect(found).toHaveLength(3);
    const slaac = found.find((text: string) => text.startsWith('2001:db8:6:'));
    expect(slaac).toMatch(/^2001:db8:6:0:f816:3eff:fe/);
    await wire.network('DELETE', `/ports/${made.id}`);
    await wire.network('DELETE', `/networks/${network.id}`);
  });

  it('rejects invalid subnets', async () => {
    const network = await wire.make('/networks', 'network', { name: uniqueName('odd') });
    await wire.make('/subnets', 'subnet', {
      network_id: network.id,
      ip_version: 4,
      cidr: '10.61.0.7/24',
      gateway_ip: null,
    });
    const pool = (start: string, end: string) => ({ allocation_pools: [{ start, end }] });
    const table: [object, number, string, RegExp][] = [
      [
        { ip_version: 4, cidr: '10.61.0.0/25' },
        400,
        'InvalidInput',
        /overlaps with another subnet/,
      ],
      [
        { ip_version: 6, cidr: '10.62.0.0/24' },
        400,
        'InvalidInput',
        /does not match the ip_version/,
      ],
      [{ ip_version: 4 }, 400, 'BadRequest', /a subnetpool must be specified/],
      [{ ip_version: 4, cidr: '10.62.0.0/31' }, 400, 'InvalidInput', /incompatible with DHCP/],
      [
        { ip_version: 4, cidr: '10.62.0.0/24', ...pool('10.62.0.1', '10.62.0.9') },
        409,
        'GatewayConflictWithAllocationPools',
        /conflicts with allocation pool/,
      ],
      [
        { ip_version: 4, cidr: '10.62.0.0/24', ...pool('10.63.0.1', '10.63.0.9') },
        400,
        'OutOfBoundsAllocationPool',
        /spans beyond the subnet cidr/,
      ],
    ];
    for (const [values, status, type, message] of table) {
      const body = { subnet: { network_id: network.id, ...values } };
      const answer = await wire.network('POST', '/subnets', body);
      expectNeutronRefusal(answer, { name: JSON.stringify(values), status, type, message });
    }
    await wire.network('DELETE', `/networks/${network.id}`);
  });

  it('limits address pairs, and requires port security for them', async () => {
    const made = await wire.make('/ports', 'port', { network_id: networkId });
    const change = (values: object) => wire.network('PUT', `/ports/${made.id}`, { port: values });
    const pairs = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ip_address: `10.9.0.${index + 1}` }));
    const refused: [object, number, string, RegExp][] = [
      [
        { allowed_address_pairs: pairs(11) },
        400,
        'AllowedAddressPairExhausted',
        /exceeds the maximum 10/,
      ],
      [
        { allowed_address_pairs: [...pairs(1), ...pairs(1)] },
        400,
        'DuplicateAddressPairInRequest',
        /duplicate address pair/,
      ],
      [
        { allowed_address_pairs: [{ ip_address: '10.9' }] },
        400,
        'HTTPBadRequest',
        /'10.9' is not a valid IP address/,
      ],
      [{ network_id: externalId }, 400, 'HTTPBadRequest', /read-only attribute network_id/],
      [{ tags: ['a'] }, 400, 'HTTPBadRequest', /read-only attribute tags/],
      [{ security_groups: [unknownId] }, 404, 'SecurityGroupNotFound', /does not exist/],
    ];
    for (const [values, status, type, message] of refused) {
      const answer = await change(values);
      expectNeutronRefusal(answer, { name: JSON.stringify(values), status, type, message });
    }
    const ten = await change({ allowed_address_pairs: pairs(10) });
    expect(ten.body.port.allowed_address_pairs).toHaveLength(10);
    const wide = await change({ allowed_address_pairs: [{ ip_address: '10.9.0.1/24' }] });
    expect(wide.body.port.allowed_address_pairs).toEqual([
      { ip_address: '10.9.0.1/24', mac_address: made.mac_address },
    ]);
    const required = { status: 409, type: 'AddressPairAndPortSecurityRequired', message: /./ };
    expectNeutronRefusal(await change({ port_security_enabled: false }), {
      name: 'switching port security off with pairs',
      ...required,
    });
    const bare = { port_security_enabled: false, security_groups: [], allowed_address_pairs: [] };
    expect((await change(bare)).body.port).toMatchObject(bare);
    expectNeutronRefusal(await change({ allowed_address_pairs: pairs(1) }), {
      name: 'pairs without port security',
      ...required,
    });
    await wire.network('DELETE', `/ports/${made.id}`);
  });

  describe('tags', () => {
    it('are set one by one or all at once, and can be searched', async () => {
      const made = await wire.make('/ports', 'port', { network_id: networkId, tags: ['ignored'] });
      const path = `/ports/${made.id}/tags`;
      const one = uniqueName('tag');
      const two = `${one}/with/slashes`;
      expect((await wire.network('PUT', `${path}/${one}`)).status).toBe(201);
      expect((await wire.network('PUT', `${path}/${one}`)).status).toBe(201);
      expect((await wire.network('GET', `${path}/${one}`)).status).toBe(204);
      expect((await wire.network('GET', path)).body.tags).toEqual([one]);
      expect((await wire.network('PUT', path, { tags: [one, two] })).body.tags.sort()).toEqual(
        [one, two].sort(),
      );
      const slash = await wire.network('PUT', `${path}/${encodeURIComponent(two)}`);
      expect(slash.status, 'a slash cannot be part of a path').toBe(404);
      const find = async (query: string) =>
        ids(await wire.network('GET', `/ports?${query}&fields=id`), 'ports');
      expect(await find(`tags=${encodeURIComponent(two)}`)).toEqual([made.id]);
      expect(await find(`tags=${one},none`)).toEqual([]);
      expect(await find(`tags-any=${one},none`)).toEqual([made.id]);
      expect(await find(`not-tags=${one}&id=${made.id}`)).toEqual([]);
      expect(await find(`not-tags=${one},none&id=${made.id}`)).toEqual([made.id]);
      const table: [object, RegExp][] = [
        [{ tags: ['a', 'a'] }, /Duplicate items in the list: 'a'/],
        [{ tags: 'a' }, /'a' is not a list/],
        [{}, /Invalid tags body/],
        [{ tags: ['x'.repeat(256)] }, /exceeds maximum length of 255/],
      ];
      for (const [body, message] of table) {
        const answer = await wire.network('PUT', path, body);
        const name = JSON.stringify(body);
        expectNeutronRefusal(answer, { name, status: 400, type: 'InvalidInput', message });
      }
      expect((await wire.network('PUT', `${path}/a`, undefined, 'alt')).status).toBe(404);
      expect((await wire.network('DELETE', `${path}/none`)).status).toBe(404);
      expect((await wire.network('DELETE', path)).status).toBe(204);
      expect((await wire.network('GET', path)).body.tags).toEqual([]);
      await wire.network('DELETE', `/ports/${made.id}`);
    });
  });

  describe('lists', () => {
    it('have pages that link to each other', async () => {
      const name = uniqueName('page');
      const body = { ports: [1, 2, 3, 4].map(() => ({ network_id: networkId, name })) };
      const made = await wire.network('POST', '/ports', body);
      const all = ids(made, 'ports').sort();
      const list = (query: string) => wire.network('GET', `/ports?name=${name}&fields=id${query}`);
      const links = (answer: WireAnswer) => answer.body.ports_links.map(({ rel }) => rel).sort();
      expect((await list('')).body).not.toHaveProperty('ports_links');
      expect(ids(await list(''), 'ports')).toEqual(all);
      expect(ids(await list('&limit=0'), 'ports')).toEqual(all);
      const first = await list('&limit=3');
      expect(ids(first, 'ports')).toEqual(all.slice(0, 3));
      expect(links(first)).toEqual(['next', 'previous']);
      const next = firstOf(first.body.ports_links.filter(({ rel }) => rel === 'next')).href;
      expect(new URL(next).searchParams.get('name'), 'links keep the filters').toBe(name);
      const headers = { 'x-auth-token': await wire.token('demo') };
      const second = await wire.send('GET', next, undefined, headers);
      expect(ids(second, 'ports')).toEqual(all.slice(3));
      expect(links(second)).toEqual(['previous']);
      const exact = await list('&limit=4');
      expect(links(exact), 'a full page may have a next one').toContain('next');
      const beyond = await list(`&limit=2&marker=${all[3]}`);
      expect(ids(beyond, 'ports')).toEqual([]);
      expect(links(beyond)).toEqual(['previous']);
      const reverse = await list(`&limit=2&page_reverse=True&marker=${all[3]}`);
      expect(ids(reverse, 'ports')).toEqual(all.slice(1, 3));
      expect(ids(await list('&limit=2&page_reverse=True'), 'ports')).toEqual(all.slice(2));
      expect(ids(await list(`&marker=${all[1]}`), 'ports'), 'no limit, no marker').toEqual(all);
      for (const each of all) await wire.network('DELETE', `/ports/${each}`);
    });

    it('are filtered by addresses, booleans and empty values', async () => {
      const made = await wire.make('/ports', 'port', { network_id: networkId });
      const address = made.fixed_ips[0]?.ip_address;
      const find = async (query: string) =>
        ids(await wire.network('GET', `/ports?${query}`), 'ports');
      expect(await find(`fixed_ips=ip_address%3D${address}`)).toEqual([made.id]);
      const both = `fixed_ips=ip_address%3D${address}&fixed_ips=subnet_id%3D${subnetId}`;
      expect(await find(both)).toEqual([made.id]);
      expect(await find(`mac_address=${made.mac_address}`)).toEqual([made.id]);
      expect(await find(`id=${made.id}&id=${unknownId}`)).toEqual([made.id]);
      const external = await wire.network('GET', '/networks?router:external=True&name=public');
      expect(ids(external, 'networks')).toEqual([externalId]);
      const free = await wire.make('/floatingips', 'floatingip', {
        floating_network_id: externalId,
      });
      expect((await wire.network('GET', '/floatingips?port_id=')).body.floatingips).toEqual([]);
      expect(await find('name='), 'an empty name is a name').toContain(made.id);
      await wire.network('DELETE', `/floatingips/${free.id}`);
      await wire.network('DELETE', `/ports/${made.id}`);
    });
  });
});
