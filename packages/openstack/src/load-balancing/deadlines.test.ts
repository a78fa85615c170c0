import { expect, it } from 'vitest';
import { startMinimalCloud } from '../../../../test/openstack/minimal-cloud.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { CallOptions } from '../call.ts';
import type { LoadBalancing } from './contract.ts';
import { openLoadBalancing } from './open.ts';

const call = { signal: new AbortController().signal };
const member = (address: string) => ({ address: parseAddress(address), port: parsePort(80) });

/** Each call needs several steps, and each step takes less than the deadline. */
const deadlineMs = 1_000;

const composed: Record<string, (service: LoadBalancing, call: CallOptions) => Promise<unknown>> = {
  'a delete that meets a lock': (service, c) => service.deleteListener('l', c),
  'a batch of members': (service, c) => service.replaceMembers('p', [member('10.0.0.1')], c),
  'a load balancer with its listener': (service, c) =>
    service.createLoadBalancer(
      {
        name: 'x',
        vipSubnetId: 's',
        listeners: [{ name: 'l', protocol: 'TCP', port: parsePort(80) }],
      },
      c,
    ),
  'a cascade': (service, c) => service.deleteLoadBalancer('lb', { ...c, cascade: true }),
};

it.each([
  ['octavia', 'a delete that meets a lock', 600],
  ['octavia', 'a batch of members', 600],
  ['lbaas-v2', 'a delete that meets a lock', 600],
  ['lbaas-v2', 'a batch of members', 600],
  // The listener alone takes a read and a create.
  ['lbaas-v2', 'a load balancer with its listener', 400],
  ['lbaas-v2', 'a cascade', 600],
])('%s: the deadline covers the whole of %s', async (kind, what, requestMs) => {
  const clock = new SimulatedClock();
  let isSlow = false;
  const status = { provisioning_status: 'ACTIVE' };
  const objects = {
    listener: { id: 'l', protocol: 'TCP', protocol_port: 80, ...status },
    loadbalancer: { id: 'lb', vip_address: '192.0.2.1', provisioning_status: 'ACTIVE' },
    pool: { id: 'p', protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', loadbalancers: [{ id: 'lb' }] },
    member: { id: 'm', address: '10.0.0.1', protocol_port: 80 },
  };
  const lists = { members: [], listeners: [], pools: [], loadbalancers: [] };
  await using test = await startMinimalCloud(
    async ({ method, path }) => {
      if (path.endsWith('/extensions')) {
        return { status: 200, body: { extensions: [{ alias: 'lbaasv2', name: 'LBaaS v2' }] } };
      }
      if (isSlow) await clock.advance(requestMs);
      if (method === 'DELETE' && path.includes('/listeners/')) return { status: 409 };
      if (method === 'DELETE') return { status: 204 };
      const isList = method === 'GET' && path.endsWith('s');
      return { status: 200, body: isList ? lists : { ...objects, versions: [{ id: 'v2.26' }] } };
    },
    {
      clock,
      config: (url) => (kind === 'octavia' ? {} : { endpoints: { network: `${url}/network` } }),
    },
  );
  const service = await openLoadBalancing(test.cloud.session(), call);
  expect(service.kind).toBe(kind);
  const work = composed[what];
  isSlow = true;
  await expect(work?.(service, { ...call, deadlineMs })).rejects.toMatchObject({ code: 'timeout' });
});
