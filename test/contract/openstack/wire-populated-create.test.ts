import { expect, it } from 'vitest';
import { describeEveryCloud, uniqueName } from './clouds.ts';
import { firstOf } from './wire-object.ts';
import { expectOctaviaRefusal, Wire } from './wire.ts';

/** Octavia 11.0.0 as released, which clouds run: see docs/sandbox-openstack.md. */
await describeEveryCloud('a create of a whole tree', { populatedCreateDefect: true }, (cloud) => {
  it('leaves the children in PENDING_CREATE below an ACTIVE load balancer', async () => {
    const wire = new Wire(cloud().running);
    const answer = await wire.balancing('POST', '/loadbalancers', {
      loadbalancer: {
        name: uniqueName('stuck'),
        vip_subnet_id: await wire.find('/subnets?name=private-v4', 'subnets'),
        listeners: [
          {
            name: 'web',
            protocol: 'TCP',
            protocol_port: 80,
            default_pool: {
              name: 'web',
              protocol: 'TCP',
              lb_algorithm: 'ROUND_ROBIN',
              members: [{ address: '10.10.6.1', protocol_port: 80 }],
            },
          },
        ],
      },
    });
    const { id, pools } = answer.body.loadbalancer;
    expect(await wire.settled(id)).toBe('ACTIVE');
    const status = await wire.balancing('GET', `/loadbalancers/${id}/status`);
    const listener = firstOf(status.body.statuses.loadbalancer.listeners);
    expect(listener.provisioning_status).toBe('PENDING_CREATE');
    expect(firstOf(listener.pools).provisioning_status).toBe('PENDING_CREATE');
    const member = { member: { address: '10.10.6.2', protocol_port: 80 } };
    const poolId = firstOf(pools).id;
    expectOctaviaRefusal(await wire.balancing('POST', `/pools/${poolId}/members`, member), {
      name: 'a member of a pool that is stuck',
      status: 409,
      message: /Pool .* is immutable/,
    });
    const change = await wire.balancing('PUT', `/listeners/${listener.id}`, {
      listener: { name: 'woken' },
    });
    expect(change.status, 'the listener itself takes a change').toBe(200);
    await wire.settled(id);
    const woken = await wire.balancing('GET', `/listeners/${listener.id}`);
    expect(woken.body.listener.provisioning_status).toBe('ACTIVE');
    const gone = await wire.balancing('DELETE', `/loadbalancers/${id}?cascade=true`);
    expect(gone.status).toBe(204);
    expect(await wire.settled(id)).toBe('gone');
  });
});
