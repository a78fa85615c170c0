import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

// Load balancers that are slow, or end in ERROR, while they are changed, deleted or shared.

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });
/** Lower limit of the pause after a failure: 5 s with a jitter of a fifth, less the time of the request. */
const shortestPauseMs = 3_500;
const byId = 'loadbalancer.openstack.org/load-balancer-id';

beforeEach(async () => {
  ({ cloud, lab, stop } = await openEmbeddedLab());
});

afterEach(() => stop());

async function serve(name: string, annotations = {}): Promise<void> {
  await lab.client.create(services, newService(name, {}, annotations));
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
  await untilServed(lab, name);
}

const untilEvent = (words: string) =>
  until(() => expect(lab.events.join('\n').replaceAll(/[0-9a-f-]{36}/g, 'ID')).toContain(words));

/** The times of the requests to delete a load balancer, in milliseconds. */
function noteDeletes(): readonly number[] {
  const times: number[] = [];
  cloud.onRequest(({ method, path }) => {
    if (method === 'DELETE' && path.includes('/loadbalancers/')) times.push(performance.now());
  });
  return times;
}

test('the status has an address when the load balancer is ACTIVE, and not before', async () => {
  await lab.start();
  const letGo = cloud.provisioning.hold();
  await lab.client.create(services, newService('web'));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(async () => {
    expect((await lab.klb('web'))?.status?.loadbalancer?.ip).not.toBe('');
    const [condition] = (await lab.service('web'))?.status?.conditions ?? [];
    expect(condition).toMatchObject({ status: 'False', reason: 'Pending' });
  });
  expect((await lab.service('web'))?.status?.loadBalancer?.ingress ?? []).toEqual([]);
  letGo();
  await untilServed(lab, 'web');
  expect((await lab.service('web'))?.status?.loadBalancer?.ingress).toHaveLength(1);
});

test('records an update that does not end, and applies later changes after its end', async () => {
  lab.pendingLimitMs = 200;
  await lab.start();
  await serve('web');
  const letGo = cloud.provisioning.hold();
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.2']));
  await untilEvent(
    'web Warning KuryrEnsureLBError: The load balancer ID has been PENDING_UPDATE for too',
  );
  await lab.client.patchMerge(services, named('web'), { spec: { ports: [{ port: 81 }] } });
  await until(async () =>
    expect((await lab.klb('web'))?.spec?.ports).toMatchObject([{ port: 81 }]),
  );
  expect((await lab.klb('web'))?.status?.conditions).toMatchObject([{ status: 'True' }]);
  letGo();
  await until(async () => {
    const [balancer] = await lab.balancers();
    expect(balancer?.listeners.map(({ port }) => port)).toEqual([81]);
  });
  await untilServed(lab, 'web');
});

test('records a deletion that does not end, and waits for it', async () => {
  lab.pendingLimitMs = 200;
  await lab.start();
  await serve('web');
  const letGo = cloud.provisioning.hold();
  const deletes = noteDeletes();
  await lab.client.delete(services, named('web'));
  await untilEvent(
    'DeleteLoadBalancerFailed: The load balancer ID has been PENDING_DELETE for too long',
  );
  letGo();
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(deletes).toHaveLength(1);
});

test('a deleted Service waits for its busy load balancer without a Warning', async () => {
  await lab.start();
  await serve('web');
  const letGo = cloud.provisioning.hold();
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.2']));
  await until(() =>
    expect(cloud.octavia.loadBalancers.all()[0]?.provisioning_status).toBe('PENDING_UPDATE'),
  );
  await lab.client.delete(services, named('web'));
  await untilEvent('web Normal KuryrReleaseLB');
  letGo();
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(lab.events.join('\n')).not.toContain('Warning');
});

test('records a deletion that ends in ERROR, and tries again with growing delays', async () => {
  await lab.start();
  await serve('web');
  const recover = cloud.provisioning.failWhen(({ kind }) => kind === 'delete');
  const deletes = noteDeletes();
  await lab.client.delete(services, named('web'));
  await untilEvent(
    'DeleteLoadBalancerFailed: The load balancer ID ended in ERROR during its deletion',
  );
  await until(() => expect(deletes.length).toBeGreaterThanOrEqual(3));
  const [, second = 0, third = 0] = deletes;
  expect(third - second).toBeGreaterThan(shortestPauseMs);
  recover();
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.balancers()).toEqual([]);
});

test('deletes the former load balancer later if its deletion fails after the Service moved to another one', async () => {
  await lab.start({}, 'lab', 100);
  await serve('other');
  await serve('web');
  const own = (await lab.klb('web'))?.status?.loadbalancer?.id;
  const shared = (await lab.klb('other'))?.status?.loadbalancer?.id;
  const address = await lab.addressOf('other');
  const recover = cloud.provisioning.failWhen(({ kind }) => kind === 'delete');
  const annotations = { [byId]: shared };
  const spec = { ports: [{ port: 81 }] };
  await lab.client.patchMerge(services, named('web'), { metadata: { annotations }, spec });
  await until(async () => {
    const klb = await lab.klb('web');
    expect(klb?.status?.loadbalancer?.id).toBe(shared);
    const left = (await lab.balancers()).find(({ id }) => id === own);
    expect(left?.provisioningStatus).toBe('ERROR');
  });
  recover();
  await until(async () => expect((await lab.balancers()).map(({ id }) => id)).toEqual([shared]));
  await untilServed(lab, 'web');
  // A VIP has one floating IP: the former one was released.
  expect(await lab.addressOf('web')).toBe(address);
  expect(await lab.floatingIps()).toHaveLength(1);
});

test('retries the deletion of a load balancer to replace with growing delays', async () => {
  const recover = cloud.provisioning.failWhen(() => true);
  await lab.start();
  await lab.client.create(services, newService('web'));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  const deletes = noteDeletes();
  await untilEvent('KuryrEnsureLBError: The load balancer ID is in ERROR');
  await until(() => expect(deletes.length).toBeGreaterThanOrEqual(2));
  const [first = 0, second = 0] = deletes;
  expect(second - first).toBeGreaterThan(shortestPauseMs);
  recover();
  await untilServed(lab, 'web');
  expect(await lab.balancers()).toMatchObject([{ provisioningStatus: 'ACTIVE' }]);
});

test('a shared load balancer in ERROR does not count as serving until it recovers', async () => {
  const balancing = await lab.balancing();
  const call = { signal: never };
  const spec = { name: 'theirs', vipSubnetId: lab.privateSubnet };
  const { id } = await balancing.createLoadBalancer(spec, { ...call, once: 'name' });
  await balancing.waiter.active(id, call);
  await lab.start({}, 'lab', 100);
  await serve('web', { [byId]: id });
  // Not during a change: its end would make the load balancer ACTIVE again.
  await balancing.waiter.active(id, call);
  const row = cloud.octavia.loadBalancers.get(id);
  if (row === undefined) throw new Error('it is gone');
  cloud.octavia.loadBalancers.update(row, { provisioning_status: 'ERROR' });
  await untilEvent('web Warning LoadBalancerInError: The load balancer ID is in ERROR');
  await until(async () =>
    expect((await lab.klb('web'))?.status?.conditions?.[0]).toMatchObject({
      status: 'False',
      reason: 'LoadBalancerInError',
    }),
  );
  cloud.octavia.loadBalancers.update(row, { provisioning_status: 'ACTIVE' });
  await untilServed(lab, 'web');
  expect(await lab.balancers()).toMatchObject([{ id }]);
});

test.each([
  [500, 'broken'],
  [503, 'the project is busy'],
  [409, 'Load Balancer is immutable and cannot be updated'],
])(
  'records an answer of %i to a create request, and creates the load balancer once the service recovers',
  async (status, text) => {
    const effect = { kind: 'answer', status, text } as const;
    const recover = cloud.faults.add({ method: 'POST', path: /loadbalancers$/, effect });
    await lab.start();
    await lab.client.create(services, newService('web'));
    await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
    await untilEvent('web Warning KuryrEnsureLBError: Error when provisioning the load balancer');
    expect(await lab.balancers()).toEqual([]);
    recover();
    await untilServed(lab, 'web');
    expect(await lab.balancers()).toHaveLength(1);
  },
);

test('records an answer of 500 to a change, and applies the change once the service recovers', async () => {
  await lab.start();
  await serve('web');
  const effect = { kind: 'answer', status: 500, text: 'broken' } as const;
  const recover = cloud.faults.add({ method: 'PUT', path: /members$/, effect });
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.2']));
  await untilEvent('web Warning KuryrEnsureLBError: Error when provisioning the load balancer');
  recover();
  await until(async () => {
    const [balancer] = await lab.balancers();
    expect(balancer?.listeners[0]?.members).toMatchObject([{ address: '10.10.1.2' }]);
  });
  await untilServed(lab, 'web');
});
