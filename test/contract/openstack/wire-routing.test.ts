import { beforeAll, describe, expect, it } from 'vitest';
import { describeEveryCloud, uniqueName } from './clouds.ts';
import { firstOf } from './wire-object.ts';
import { expectNeutronRefusal, unknownId, Wire } from './wire.ts';

await describeEveryCloud('what Neutron says of ways in and out', {}, (cloud) => {
  let wire: Wire;
  let networkId: string;
  let externalId: string;
  beforeAll(async () => {
    wire = new Wire(cloud().running);
    networkId = await wire.find('/networks?name=private', 'networks');
    externalId = await wire.find('/networks?name=public', 'networks');
  });

  describe('floating IPs', () => {
    it('belong to one port at a time, and are disassociated when it is deleted', async () => {
      const [first, second] = [
        await wire.make('/ports', 'port', { network_id: networkId, name: 'first' }),
        await wire.make('/ports', 'port', { network_id: networkId }),
      ];
      const made = await wire.make('/floatingips', 'floatingip', {
        floating_network_id: externalId,
        description: 'd',
      });
      expect(made).toMatchObject({ status: 'DOWN', port_id: null, port_details: null });
      const path = `/floatingips/${made.id}`;
      const change = (values: object) => wire.network('PUT', path, { floatingip: values });
      const there = (await change({ port_id: first.id })).body.floatingip;
      expect(there.fixed_ip_address).toBe(first.fixed_ips[0]?.ip_address);
      expect(there.router_id).toMatch(/-/);
      expect(there.status).toBe('DOWN');
      expect(there.port_details.name).toBe('first');
      const another = { floating_network_id: externalId, port_id: first.id };
      expectNeutronRefusal(await wire.network('POST', '/floatingips', { floatingip: another }), {
        name: 'a second one on the same address',
        status: 409,
        type: 'FloatingIPPortAlreadyAssociated',
        message: /already has a floating IP/,
      });
      expect((await change({ port_id: second.id })).body.floatingip.port_id).toBe(second.id);
      expect((await change({ port_id: null })).body.floatingip.port_id).toBeNull();
      await change({ port_id: first.id });
      expect((await change({ description: 'e' })).body.floatingip.port_id).toBe(first.id);
      expect((await change({})).body.floatingip.port_id, 'an empty change frees it').toBeNull();
      await change({ port_id: first.id });
      await wire.network('DELETE', `/ports/${first.id}`);
      expect((await wire.network('GET', path)).body.floatingip.port_id).toBeNull();
      const refused: [object, number, RegExp][] = [
        [{ port_id: unknownId }, 404, /Port .* could not be found/],
        [{ port_id: second.id, fixed_ip_address: '9.9.9.9' }, 400, /does not have fixed ip/],
        [{ fixed_ip_address: '9.9.9.9' }, 400, /cannot be specified without a port_id/],
      ];
      for (const [values, status, message] of refused) {
        expectNeutronRefusal(await change(values), {
          name: JSON.stringify(values),
          status,
          message,
        });
      }
      expect((await wire.network('GET', path, undefined, 'alt')).status).toBe(404);
      expect((await wire.network('DELETE', path, undefined, 'alt')).status).toBe(404);
      expect((await wire.network('DELETE', path)).status).toBe(204);
      expect((await wire.network('DELETE', path)).status).toBe(404);
      await wire.network('DELETE', `/ports/${second.id}`);
    });

    it('come from external networks; only administrators choose the address', async () => {
      const table: [object, 'demo' | 'admin', number, string, RegExp][] = [
        [{}, 'demo', 400, 'HTTPBadRequest', /'floating_network_id' not specified/],
        [{ floating_network_id: networkId }, 'demo', 400, 'BadRequest', /not a valid external/],
        [{ floating_network_id: unknownId }, 'demo', 404, 'NetworkNotFound', /could not be found/],
        [
          { floating_network_id: externalId, tags: ['a'] },
          'demo',
          400,
          'HTTPBadRequest',
          /'tags' not allowed in POST/,
        ],
        [
          { floating_network_id: externalId, floating_ip_address: '203.0.113.200' },
          'demo',
          403,
          'PolicyNotAuthorized',
          /create_floatingip:floating_ip_address/,
        ],
        [
          { floating_network_id: externalId, floating_ip_address: '198.51.100.1' },
          'admin',
          400,
          'InvalidIpForNetwork',
          /not a valid IP for any of the subnets/,
        ],
      ];
      for (const [values, account, status, type, message] of table) {
        const answer = await wire.network('POST', '/floatingips', { floatingip: values }, account);
        expectNeutronRefusal(answer, { name: JSON.stringify(values), status, type, message });
      }
      const chosen = { floating_network_id: externalId, floating_ip_address: '203.0.113.200' };
      const made = await wire.make('/floatingips', 'floatingip', chosen, 'admin');
      const again = await wire.network('POST', '/floatingips', { floatingip: chosen }, 'admin');
      expectNeutronRefusal(again, {
        name: 'the same address twice',
        status: 409,
        type: 'IpAddressAlreadyAllocated',
        message: /already allocated/,
      });
      const query = '/ports?device_owner=network:floatingip';
      const own = firstOf((await wire.network('GET', query, undefined, 'admin')).body.ports);
      expect(own).toMatchObject({ status: 'N/A', project_id: '' });
      const direct = await wire.network('DELETE', `/ports/${own.id}`, undefined, 'admin');
      expectNeutronRefusal(direct, {
        name: 'deleting its port',
        status: 409,
        type: 'ServicePortInUse',
        message: /has device owner network:floatingip/,
      });
      await wire.network('DELETE', `/floatingips/${made.id}`, undefined, 'admin');
    });

    it('need a router between the networks', async () => {
      const network = await wire.make('/networks', 'network', { name: uniqueName('island') });
      const subnet = await wire.make('/subnets', 'subnet', {
        network_id: network.id,
        ip_version: 4,
        cidr: '10.70.0.0/24',
      });
      const made = await wire.make('/ports', 'port', { network_id: network.id });
      const wanted = { floating_network_id: externalId, port_id: made.id };
      expectNeutronRefusal(await wire.network('POST', '/floatingips', { floatingip: wanted }), {
        name: 'no router',
        status: 404,
        type: 'ExternalGatewayForFloatingIPNotFound',
        message: /is not reachable from subnet/,
      });
      const routerId = await wire.find('/routers?name=edge', 'routers');
      const attach = (verb: string, body: object) =>
        wire.network('PUT', `/routers/${routerId}/${verb}_router_interface`, body);
      const added = await attach('add', { subnet_id: subnet.id });
      expect(added.body).toMatchObject({ id: routerId, subnet_ids: [subnet.id] });
      const twice = await attach('add', { subnet_id: subnet.id });
      expect(twice.status).toBe(400);
      expect((await attach('add', {})).status).toBe(400);
      const floating = await wire.make('/floatingips', 'floatingip', wanted);
      expectNeutronRefusal(await attach('remove', { subnet_id: subnet.id }), {
        name: 'an interface that a floating IP needs',
        status: 409,
        type: 'RouterInterfaceInUseByFloatingIP',
        message: /required by one or more floating IPs/,
      });
      await wire.network('DELETE', `/floatingips/${floating.id}`);
      expect((await attach('remove', { subnet_id: subnet.id })).status).toBe(200);
      expectNeutronRefusal(await attach('remove', { subnet_id: subnet.id }), {
        name: 'removing twice',
        status: 404,
        type: 'RouterInterfaceNotFoundForSubnet',
        message: /has no interface on subnet/,
      });
      const inUse = await wire.network('DELETE', `/routers/${routerId}`);
      expectNeutronRefusal(inUse, {
        name: 'a router in use',
        status: 409,
        type: 'RouterInUse',
        message: /has ports still attached/,
      });
      await wire.network('DELETE', `/ports/${made.id}`);
      await wire.network('DELETE', `/networks/${network.id}`);
    });
  });

  it('validates security groups', async () => {
    const group = await wire.make('/security-groups', 'security_group', { name: uniqueName('g') });
    expect(group.security_group_rules).toHaveLength(2);
    const rule = {
      security_group_id: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      port_range_min: 80,
      port_range_max: 80,
    };
    await wire.make('/security-group-rules', 'security_group_rule', rule);
    const refused: [object, number, string][] = [
      [rule, 409, 'SecurityGroupRuleExists'],
      [{ ...rule, port_range_max: 70 }, 400, 'SecurityGroupInvalidPortRange'],
      [{ ...rule, protocol: null }, 400, 'SecurityGroupProtocolRequiredWithPorts'],
      [{ ...rule, security_group_id: unknownId }, 404, 'SecurityGroupNotFound'],
      [{ ...rule, remote_ip_prefix: '2001:db8::/32' }, 400, 'SecurityGroupRuleParameterConflict'],
      [
        { ...rule, remote_ip_prefix: '10.0.0.0/8', remote_group_id: group.id },
        400,
        'SecurityGroupMultipleRemoteEntites',
      ],
      [{ ...rule, direction: 'in' }, 400, 'HTTPBadRequest'],
    ];
    for (const [values, status, type] of refused) {
      const body = { security_group_rule: values };
      const answer = await wire.network('POST', '/security-group-rules', body);
      expectNeutronRefusal(answer, { name: JSON.stringify(values), status, type, message: /./ });
    }
    const loose = await wire.make('/security-group-rules', 'security_group_rule', {
      security_group_id: group.id,
      direction: 'ingress',
      remote_ip_prefix: '10.0.0.1/8',
    });
    expect(loose).toMatchObject({
      remote_ip_prefix: '10.0.0.1/8',
      normalized_cidr: '10.0.0.0/8',
    });
    const twin = await wire.network('POST', '/security-groups', {
      security_group: { name: 'default' },
    });
    expect(twin.body.NeutronError?.type).toBe('SecurityGroupDefaultAlreadyExists');
    const holder = await wire.make('/ports', 'port', {
      network_id: networkId,
      security_groups: [group.id],
    });
    const inUse = await wire.network('DELETE', `/security-groups/${group.id}`);
    expect(inUse.body.NeutronError?.type).toBe('SecurityGroupInUse');
    await wire.network('DELETE', `/ports/${holder.id}`);
    expect((await wire.network('DELETE', `/security-groups/${group.id}`)).status).toBe(204);
  });

  it('enforces quotas', async () => {
    const { project_id: project } = (await wire.network('GET', `/networks/${networkId}`)).body
      .network;
    const path = `/quotas/${project}`;
    const own = await wire.network('GET', path);
    expect(own.body.quota).toMatchObject({ port: -1, floatingip: -1, rbac_policy: 10 });
    expect((await wire.network('GET', '/quotas/other')).status).toBe(403);
    expect((await wire.network('PUT', path, { quota: { port: 1 } })).status).toBe(403);
    const set = await wire.network('PUT', path, { quota: { port: 1, floatingip: 0 } }, 'admin');
    expect(set.body.quota).toMatchObject({ port: 1, floatingip: 0, network: -1 });
    const port = { port: { network_id: networkId } };
    expectNeutronRefusal(await wire.network('POST', '/ports', port), {
      name: 'one port too many',
      status: 409,
      type: 'OverQuota',
      message: /Quota exceeded for resources: \['port'\]/,
    });
    const floating = { floatingip: { floating_network_id: externalId } };
    const over = await wire.network('POST', '/floatingips', floating);
    expect(over.body.NeutronError?.type).toBe('OverQuota');
    expect((await wire.network('DELETE', path, undefined, 'admin')).status).toBe(204);
    expect((await wire.network('GET', path)).body.quota).toMatchObject({ port: -1 });
  });
});
