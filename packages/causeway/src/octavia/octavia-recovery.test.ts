import { afterEach, expect, test } from 'vitest';
import { openEmbeddedLab, type CloudOptions } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { whenUnlocked } from '@causeway/openstack/load-balancing/lock';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { kuryrLoadBalancers } from './kuryr-load-balancer.ts';

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });
const driftMs = 100;

async function begin(options: CloudOptions = {}): Promise<void> {
  ({ cloud, lab, stop } = await openEmbeddedLab(options));
}

afterEach(() => stop());

async function serve(name: string): Promise<void> {
  await lab.client.create(services, newService(name));
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1', '10.10.1.2']));
}

async function theBalancer() {
  const [balancer, ...others] = await lab.balancers();
  if (balancer === undefined || others.length > 0) throw new Error('not exactly one load balancer');
  return balancer;
}

test('fills an emptied status again, and recreates nothing', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  const before = await theBalancer();
  const klb = await lab.klb('web');
  const removal = Object.fromEntries(Object.keys(klb?.status ?? {}).map((key) => [key, null]));
  const edits = [{ members: null, listeners: null }, removal];
  for (const status of edits) {
    await lab.client.patchMerge(
      kuryrLoadBalancers,
      named('web'),
      { status },
      { subresource: 'status' },
    );
    await until(async () => {
      const { conditions: _, ...now } = (await lab.klb('web'))?.status ?? {};
      const { conditions: __, ...then } = klb?.status ?? {};
      expect(now).toEqual(then);
    });
  }
  expect(await theBalancer()).toEqual(before);
  expect(await lab.floatingIps()).toHaveLength(1);
});

test('fills an emptied status again after a restart', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  const before = await theBalancer();
  await lab.stop();
  const status = {
    loadbalancer: null,
    listeners: null,
    pools: null,
    members: null,
    service_pub_ip_info: null,
  };
  await lab.client.patchMerge(
    kuryrLoadBalancers,
    named('web'),
    { status },
    { subresource: 'status' },
  );
  await lab.start();
  await until(async () => expect((await lab.klb('web'))?.status?.loadbalancer?.id).toBe(before.id));
  await until(async () =>
    expect((await lab.klb('web'))?.status?.service_pub_ip_info).toBeDefined(),
  );
  expect(await theBalancer()).toEqual(before);
  expect(await lab.floatingIps()).toHaveLength(1);
});

test('creates a load balancer again that another program deleted, with the same floating IP', async () => {
  await begin();
  await lab.start({}, 'lab', driftMs);
  await serve('web');
  await untilServed(lab, 'web');
  const address = await lab.addressOf('web');
  const { id } = await theBalancer();
  await (await lab.balancing()).deleteLoadBalancer(id, { signal: never, cascade: true });
  await until(async () => expect((await lab.klb('web'))?.status?.loadbalancer?.id).not.toBe(id));
  await untilServed(lab, 'web');
  const { vipPortId } = await theBalancer();
  await until(async () =>
    expect(await lab.floatingIps()).toMatchObject([{ address, portId: vipPortId }]),
  );
  await until(() => expect(lab.events.join('\n')).toContain('LoadBalancerMissing'));
});

test('a pool that another program deletes is created again, with an Event', async () => {
  await begin();
  await lab.start({}, 'lab', driftMs);
  await serve('web');
  await untilServed(lab, 'web');
  const balancing = await lab.balancing();
  const { id, listeners } = await theBalancer();
  const poolId = listeners[0]?.defaultPoolId ?? '';
  const call = { signal: never };
  await whenUnlocked(balancing.waiter, id, () => balancing.deletePool(poolId, call), call);
  await until(() => expect(lab.events.join('\n')).toContain('web Warning LoadBalancerPoolMissing'));
  await until(async () => {
    const [again] = (await theBalancer()).listeners;
    expect(again?.defaultPoolId).not.toBe(poolId);
    expect(again?.members).toHaveLength(2);
  });
});

test('a floating IP that another program deletes is replaced, with an Event', async () => {
  await begin();
  await lab.start({}, 'lab', driftMs);
  await serve('web');
  await untilServed(lab, 'web');
  const [floating] = await lab.floatingIps();
  await lab.neutron.floatingIps.delete(floating?.id ?? '', { signal: never });
  await until(() => expect(lab.events.join('\n')).toContain('web Warning FloatingIPMissing'));
  await until(async () => {
    const [other] = await lab.floatingIps();
    expect(other?.id).not.toBe(floating?.id);
    expect(await lab.addressOf('web')).toBe(other?.address);
  });
});

test('repairs deleted and edited children of a load balancer', async () => {
  await begin();
  await lab.start({}, 'lab', driftMs);
  await serve('web');
  await untilServed(lab, 'web');
  const balancing = await lab.balancing();
  const { id, listeners } = await theBalancer();
  const [listener] = listeners;
  const poolId = listener?.defaultPoolId ?? '';
  const [member] = listener?.members ?? [];
  const call = { signal: never };
  await balancing.deleteMember(poolId, member?.id ?? '', call);
  await until(async () => expect((await theBalancer()).listeners[0]?.members).toHaveLength(2));
  const edit = () => balancing.updatePool(poolId, { algorithm: 'LEAST_CONNECTIONS' }, call);
  await whenUnlocked(balancing.waiter, id, edit, call);
  await until(async () =>
    expect((await balancing.pool(poolId, call)).algorithm).toBe('ROUND_ROBIN'),
  );
  const deletion = () => balancing.deleteListener(listener?.id ?? '', call);
  await whenUnlocked(balancing.waiter, id, deletion, call);
  await until(async () => {
    const [again] = (await theBalancer()).listeners;
    expect(again?.id).not.toBe(listener?.id);
    expect(again?.members).toHaveLength(2);
  });
  expect((await theBalancer()).id).toBe(id);
  await until(() => expect(lab.events.join('\n')).toContain('LoadBalancerListenerMissing'));
});

test('keeps the results of a drift check when a part of it fails', async () => {
  await begin();
  await lab.start({}, 'lab', driftMs);
  await serve('web');
  await untilServed(lab, 'web');
  const { id } = await theBalancer();
  const answer = { kind: 'answer', status: 500, text: 'broken' } as const;
  const recover = [
    cloud.faults.add({ method: 'GET', path: /floatingips/, effect: answer }),
    cloud.faults.add({ method: 'GET', path: /members/, effect: answer }),
  ];
  await (await lab.balancing()).deleteLoadBalancer(id, { signal: never, cascade: true });
  await until(async () => expect((await lab.klb('web'))?.status?.loadbalancer?.id).not.toBe(id));
  for (const end of recover) end();
  await untilServed(lab, 'web');
});

test('an unreadable status does not block the start', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  await lab.stop();
  const [member] = (await lab.klb('web'))?.status?.members ?? [];
  const [, second] = (await lab.klb('web'))?.status?.members ?? [];
  const status = { members: [{ ...member, port: 0 }, second] };
  await lab.client.patchMerge(
    kuryrLoadBalancers,
    named('web'),
    { status },
    { subresource: 'status' },
  );
  await lab.start();
  await serve('other');
  await untilServed(lab, 'other');
});

test('deletes a load balancer in ERROR and creates it again', async () => {
  await begin();
  cloud.setComputeBroken(true);
  await lab.start();
  await serve('web');
  await until(() =>
    expect(lab.events.join('\n')).toContain('is in ERROR; the controller deletes it'),
  );
  cloud.setComputeBroken(false);
  await untilServed(lab, 'web');
  expect((await theBalancer()).provisioningStatus).toBe('ACTIVE');
});

test('records an exhausted quota, and serves once there is room', async () => {
  await begin({ octaviaQuotas: { load_balancer: 0 } });
  await lab.start();
  await serve('web');
  await until(() => expect(lab.events.join('\n')).toMatch(/KuryrEnsureLBError: .*quota/i));
  expect(await lab.balancers()).toEqual([]);
  cloud.octavia.defaultQuotas.load_balancer = -1;
  await untilServed(lab, 'web');
});

test('skips a listener that the service does not support with an Event, and serves the others', async () => {
  await begin();
  await lab.start();
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ];
  const answer = { kind: 'answer', status: 501, text: 'not implemented' } as const;
  cloud.faults.add({ method: 'POST', path: /loadbalancers$/, times: 1, effect: answer });
  cloud.faults.add({ method: 'POST', path: /listeners$/, times: 1, effect: answer });
  await lab.client.create(services, newService('web', { ports }));
  const targets = ports.map(({ name, port }) => ({ name, port, protocol: 'TCP' as const }));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1'], targets));
  await untilServed(lab, 'web');
  expect((await theBalancer()).listeners.map(({ name }) => name)).toEqual(['default/web:TCP:81']);
  await until(() =>
    expect(lab.events.join('\n')).toContain('KuryrSkipListener: The listener default/web:TCP:80'),
  );
});

test('lost answers create nothing twice', async () => {
  await begin();
  const drop = { kind: 'drop', when: 'after-commit' } as const;
  cloud.faults.add({ method: 'POST', path: /loadbalancers$/, times: 1, effect: drop });
  cloud.faults.add({ method: 'POST', path: /floatingips$/, times: 1, effect: drop });
  cloud.faults.add({ method: 'PUT', path: /members$/, times: 1, effect: drop });
  cloud.faults.add({ method: 'DELETE', path: /loadbalancers/, times: 1, effect: drop });
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  await theBalancer();
  expect(await lab.floatingIps()).toHaveLength(1);
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.3']));
  await until(async () => expect((await theBalancer()).listeners[0]?.members).toHaveLength(1));
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.balancers()).toEqual([]);
  expect(await lab.floatingIps()).toEqual([]);
});

test('creates children step by step where the service loses children of a create request', async () => {
  await begin({ populatedCreateDefect: true });
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  await until(async () =>
    expect((await theBalancer()).listeners).toMatchObject([
      { provisioningStatus: 'ACTIVE', members: [{}, {}] },
    ]),
  );
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.3']));
  await until(async () => expect((await theBalancer()).listeners[0]?.members).toHaveLength(1));
});

test('deletes the load balancer with its KuryrLoadBalancer, and creates both again', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  const { id } = await theBalancer();
  const { uid } = (await lab.klb('web'))?.metadata ?? {};
  const address = await lab.addressOf('web');
  // As Kuryr leaves it: only the status identifies the owner.
  const floatingId = (await lab.floatingIps())[0]?.id ?? '';
  await lab.stop();
  await lab.neutron.floatingIps.update(floatingId, { description: '' }, { signal: never });
  await lab.start();
  await lab.client.delete(kuryrLoadBalancers, named('web'));
  await until(async () => {
    const klb = await lab.klb('web');
    expect(klb?.metadata?.uid).not.toBe(uid);
    expect(klb?.status?.conditions?.[0]?.status).toBe('True');
  });
  const { id: next, vipPortId: portId } = await theBalancer();
  expect(next).not.toBe(id);
  expect(await lab.floatingIps()).toMatchObject([{ id: floatingId, address, portId }]);
  await until(async () => expect(await lab.addressOf('web')).toBe(address));
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.floatingIps()).toEqual([]);
});

test('a restart writes nothing', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  await lab.stop();
  const versions = async () => [
    (await lab.klb('web'))?.metadata?.resourceVersion,
    (await lab.service('web'))?.metadata?.resourceVersion,
  ];
  const before = await versions();
  const writes: string[] = [];
  const end = cloud.onRequest(({ method, path }) => {
    if (method !== 'GET' && !path.includes('/auth/')) writes.push(`${method} ${path}`);
  });
  await lab.start();
  await serve('other');
  await untilServed(lab, 'other');
  end();
  expect(await versions()).toEqual(before);
  expect(writes).toHaveLength(2);
});

test('holds load balancers whose Services and KuryrLoadBalancers lost their finalizers', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  await lab.stop();
  const unheld = { metadata: { finalizers: null } };
  await lab.client.patchMerge(kuryrLoadBalancers, named('web'), unheld);
  await lab.client.delete(kuryrLoadBalancers, named('web'));
  await lab.client.patchMerge(services, named('web'), unheld);
  await lab.client.delete(services, named('web'));
  await lab.start({}, 'lab', driftMs);
  await until(() => expect(lab.events.join('\n')).toContain('OrphansHeld'));
  await theBalancer();
  expect(await lab.floatingIps()).toHaveLength(1);
});

test('does not touch the state of a newer version until an operator decides', async () => {
  await begin();
  await lab.start();
  await serve('web');
  await untilServed(lab, 'web');
  const newer = { status: { version: 2 } };
  await lab.client.patchMerge(kuryrLoadBalancers, named('web'), newer, { subresource: 'status' });
  await until(() => expect(lab.events.join('\n')).toContain('NewerState'));
  await theBalancer();
});
