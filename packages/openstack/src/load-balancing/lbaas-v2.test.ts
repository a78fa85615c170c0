import { expect, it } from 'vitest';
import { startMinimalCloud } from '../../../../test/openstack/minimal-cloud.ts';
import { quickPauses } from '../../../../test/openstack/quick-clock.ts';
import type { Answer, Received } from '../../../../test/openstack/scripted-server.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { collect } from '../collect.ts';
import { openLoadBalancing } from './open.ts';
import type { LoadBalancerSpec } from './specs.ts';

const call = { signal: new AbortController().signal };

type Row = Record<string, unknown> & { id: string };

/**
 * A minimal LBaaS v2 of Mitaka: every write locks the load balancer until it has been read once, a locked one
 * answers 409, and objects in use can't be deleted.
 */
class MitakaNeutron {
  readonly rows = new Map<string, Row>();
  readonly writes: string[] = [];
  locked = false;
  #ids = 0;

  readonly answer = ({ method, path, body }: Received): Answer => {
    const parts = path.replace('/network/v2.0/', '').split('/');
    if (parts[0] === 'extensions') {
      return { status: 200, body: { extensions: [{ alias: 'lbaasv2', name: 'LBaaS v2' }] } };
    }
    const nested = parts[1] === 'pools' && parts[3] === 'members';
    const kind = nested ? 'members' : (parts[1] ?? '');
    const id = nested ? parts[4] : parts[2];
    const single = kind.replace(/s$/, '');
    if (method === 'GET') return this.#read(kind, single, id, nested ? parts[2] : undefined);
    if (this.locked) {
      const message = 'Invalid state PENDING_UPDATE of loadbalancer resource lb';
      return { status: 409, body: { NeutronError: { type: 'StateInvalid', message, detail: '' } } };
    }
    this.writes.push(`${method} ${kind}`);
    this.locked = true;
    if (method === 'DELETE') {
      this.rows.delete(`${kind} ${id}`);
      return { status: 204 };
    }
    const sent = (body as Record<string, Row>)[single] ?? { id: '' };
    const old = this.rows.get(`${kind} ${id}`);
    const row = method === 'POST' ? this.#make(kind, sent, parts[2]) : { ...old, ...sent };
    return { status: method === 'POST' ? 201 : 200, body: { [single]: row } };
  };

  #make(kind: string, sent: Row, pool: string | undefined): Row {
    this.#ids += 1;
    const row: Row = { ...sent, id: `${kind}-${this.#ids}`, pool };
    const lb = [...this.rows.values()].find((other) => other.id.startsWith('loadbalancers'));
    if (kind === 'listeners' || kind === 'pools') row['loadbalancers'] = [{ id: lb?.id }];
    if (kind === 'pools') row['listeners'] = [{ id: sent['listener_id'] }];
    if (kind === 'healthmonitors') row['pools'] = [{ id: sent['pool_id'] }];
    this.rows.set(`${kind} ${row.id}`, row);
    return row;
  }

  #read(kind: string, single: string, id: string | undefined, pool: string | undefined): Answer {
    if (kind === 'loadbalancers') {
      const status = this.locked ? 'PENDING_UPDATE' : 'ACTIVE';
      this.locked = false;
      for (const row of this.rows.values()) row['provisioning_status'] = status;
    }
    if (id !== undefined) {
      const row = this.rows.get(`${kind} ${id}`);
      return row === undefined ? { status: 404 } : { status: 200, body: { [single]: row } };
    }
    const rows = [...this.rows.values()].filter(
      (row) => row.id.startsWith(kind) && (pool === undefined || row['pool'] === pool),
    );
    return { status: 200, body: { [kind]: rows } };
  }
}

function startMitaka(neutron: MitakaNeutron) {
  return startMinimalCloud(neutron.answer, {
    config: (url) => ({ endpoints: { network: `${url}/network` } }),
    ...quickPauses,
  });
}

const spec: LoadBalancerSpec = {
  name: 'web',
  vipSubnetId: 's',
  listeners: [
    {
      name: 'http',
      protocol: 'HTTP',
      port: parsePort(80),
      defaultPool: {
        name: 'http',
        protocol: 'HTTP',
        algorithm: 'ROUND_ROBIN',
        members: [
          { address: parseAddress('10.0.0.1'), port: parsePort(80) },
          { address: parseAddress('10.0.0.2'), port: parsePort(80) },
        ],
        healthMonitor: { type: 'TCP', delay: 5, timeout: 3, maxRetries: 2 },
      },
    },
  ],
};

it("splits Octavia's single requests into several, and continues after an interruption", async () => {
  const neutron = new MitakaNeutron();
  await using mitaka = await startMitaka(neutron);
  const service = await openLoadBalancing(mitaka.cloud.session(), call);
  expect(service.kind).toBe('lbaas-v2');
  const made = await service.createLoadBalancer(spec, { ...call, once: 'name' });
  expect(neutron.writes).toEqual([
    'POST loadbalancers',
    'POST listeners',
    'POST pools',
    'POST members',
    'POST members',
    'POST healthmonitors',
  ]);
  const again = await service.createLoadBalancer(spec, { ...call, once: 'name', mayExist: true });
  expect(again.id).toBe(made.id);
  expect(neutron.writes).toHaveLength(6);

  neutron.rows.delete('healthmonitors healthmonitors-6');
  await service.createLoadBalancer(spec, { ...call, once: 'name', mayExist: true });
  expect(neutron.writes.slice(6)).toEqual(['POST healthmonitors']);

  const [pool] = await collect(service.pools({ loadBalancerId: made.id }, call));
  const changed = await service.replaceMembers(
    pool?.id ?? '',
    [
      { address: parseAddress('10.0.0.2'), port: parsePort(80), weight: 4 },
      { address: parseAddress('10.0.0.3'), port: parsePort(80) },
    ],
    call,
  );
  expect(changed).toBe('changed');
  expect(neutron.writes.slice(7)).toEqual(['POST members', 'PUT members', 'DELETE members']);

  expect(await service.deleteLoadBalancer(made.id, { ...call, cascade: true })).toBe('deleted');
  expect([...neutron.rows.keys()].filter((key) => /^(?:pool|listener|load)/.test(key))).toEqual([]);
});

it('rejects fields that it does not support', async () => {
  const neutron = new MitakaNeutron();
  await using mitaka = await startMitaka(neutron);
  const service = await openLoadBalancing(mitaka.cloud.session(), call);
  await expect(
    service.createLoadBalancer({ name: 'x', vipSubnetId: 's', tags: ['t'] }, call),
  ).rejects.toMatchObject({ code: 'unsupported' });
  expect(neutron.writes).toEqual([]);
});
