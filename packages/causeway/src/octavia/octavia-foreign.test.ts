import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { quickPauses } from '../../../../test/openstack/quick-clock.ts';
import { never, newService, newSlice, OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { parsePort } from '@causeway/base/address/port';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { startEmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { internalAnnotation } from './annotations.ts';
import { kuryrLoadBalancers } from './kuryr-load-balancer.ts';

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });
const call = { signal: never };
const byId = 'loadbalancer.openstack.org/load-balancer-id';

beforeEach(async () => {
  ({ cloud, lab, stop } = await openEmbeddedLab());
});

afterEach(() => stop());

/** A load balancer that a user created by hand, with any name. */
async function makeForeign(name: string) {
  const balancing = await lab.balancing();
  const { id } = await balancing.createLoadBalancer(
    { name, vipSubnetId: lab.privateSubnet },
    { ...call, once: 'name' },
  );
  return balancing.waiter.active(id, call);
}

async function serve(name: string, annotations = {}): Promise<void> {
  await lab.client.create(services, newService(name, {}, annotations));
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
  await untilServed(lab, name);
}

async function remove(name: string): Promise<void> {
  await lab.client.delete(services, named(name));
  await until(async () => expect(await lab.service(name)).toBeUndefined());
}

const find = async (id: string) => (await lab.balancers()).find((balancer) => balancer.id === id);
const recorded = async (name: string) => (await lab.klb(name))?.status?.loadbalancer?.id;
const untouched = { description: '', tags: [], listeners: [] };

test.each(['theirs', 'default/web'])(
  'leaves a load balancer %s that was named for a while, and never owns it',
  async (name) => {
    const { id } = await makeForeign(name);
    await lab.start();
    await serve('web', { [byId]: id });
    expect((await find(id))?.listeners).toHaveLength(1);
    const address = await lab.addressOf('web');
    await lab.client.patchMerge(services, named('web'), {
      metadata: { annotations: { [byId]: null } },
    });
    await until(async () => {
      expect(await recorded('web')).not.toBe(id);
      await untilServed(lab, 'web');
    });
    expect(await find(id)).toMatchObject(untouched);
    expect(await lab.addressOf('web')).toBe(address);
    await remove('web');
    expect(await lab.balancers()).toMatchObject([{ id, ...untouched }]);
    expect(await lab.floatingIps()).toEqual([]);
  },
);

test('does not own a load balancer that a user wrote into the status', async () => {
  const { id } = await makeForeign('theirs');
  await lab.start();
  await serve('web');
  const own = await recorded('web');
  const status = { loadbalancer: { id } };
  await lab.client.patchMerge(
    kuryrLoadBalancers,
    named('web'),
    { status },
    {
      subresource: 'status',
    },
  );
  await until(async () => expect(await recorded('web')).toBe(own));
  await until(() => expect(lab.events.join('\n')).toContain('LoadBalancerNotOurs'));
  expect(await find(id)).toMatchObject(untouched);
  await lab.stop();
  await lab.client.patchMerge(
    kuryrLoadBalancers,
    named('web'),
    { status },
    {
      subresource: 'status',
    },
  );
  await lab.client.delete(services, named('web'));
  await lab.start();
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.balancers()).toMatchObject([{ id, ...untouched }]);
});

test('keeps the floating IP of a shared load balancer on it', async () => {
  const { id, vipPortId: portId = '' } = await makeForeign('theirs');
  const theirs = { description: 'mine', floatingNetworkId: lab.publicNetwork, portId };
  const { address } = await lab.neutron.floatingIps.create(theirs, call);
  await lab.start();
  await serve('web', { [byId]: id });
  expect(await lab.addressOf('web')).toBe(address);
  await remove('web');
  expect(await lab.floatingIps()).toMatchObject([{ address, portId }]);
});

test("does not take back a user's floating IP that was moved", async () => {
  const own = await lab.neutron.floatingIps.create(
    { description: 'mine', floatingNetworkId: lab.publicNetwork },
    call,
  );
  await lab.start();
  await lab.client.create(services, newService('web', { loadBalancerIP: own.address }));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await untilServed(lab, 'web');
  await lab.stop();
  const { vipPortId: portId = '' } = await makeForeign('next');
  await lab.neutron.floatingIps.associate(own.id, portId, call);
  await lab.client.delete(services, named('web'));
  await lab.start();
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.floatingIps()).toMatchObject([{ address: own.address, portId }]);
});

test('refuses a free floating IP that was allocated for another Service', async () => {
  const description = 'Causeway, cluster other: Service default/web u-1';
  const floatingNetworkId = lab.publicNetwork;
  const own = await lab.neutron.floatingIps.create({ description, floatingNetworkId }, call);
  await lab.start();
  await lab.client.create(services, newService('web', { loadBalancerIP: own.address }));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(() => expect(lab.events.join('\n')).toContain('is in use elsewhere'));
  expect(await lab.floatingIps()).toMatchObject([{ description, portId: undefined }]);
});

test("two clusters on one load balancer don't affect each other, with the same names too", async () => {
  const { id } = await makeForeign('theirs');
  const elsewhere = await startEmbeddedKubernetes();
  const { authUrl, region } = cloud;
  const other = await OctaviaLab.open({
    ...elsewhere,
    authUrl,
    region,
    cloudOptions: quickPauses,
  });
  const internal = { [internalAnnotation]: 'true' };
  const serveOn = async (where: OctaviaLab, port: number) => {
    const ports = [{ name: 'a', port, protocol: 'TCP' as const }];
    await where.client.create(services, newService('web', { ports }, { [byId]: id, ...internal }));
    await where.client.create(endpointSlices, newSlice('web', ['10.10.1.1'], ports));
  };
  const ports = async () => (await find(id))?.listeners.map(({ port }) => port).sort();
  try {
    await lab.start();
    await other.start({}, 'other');
    await serveOn(lab, 80);
    await untilServed(lab, 'web');
    await serveOn(other, 81);
    await untilServed(other, 'web');
    expect(await ports()).toEqual([80, 81]);
    expect((await lab.klb('web'))?.status?.listeners).toHaveLength(1);
    await lab.client.patchMerge(services, named('web'), {
      spec: { ports: [{ name: 'a', port: 82, protocol: 'TCP' }] },
    });
    await until(async () => expect(await ports()).toEqual([81, 82]));
    // The port of the other cluster is in use, under the same name as well.
    await lab.client.patchMerge(services, named('web'), {
      spec: { ports: [{ name: 'a', port: 81, protocol: 'TCP' }] },
    });
    await until(() => expect(lab.events.join('\n')).toContain('PortTaken'));
    expect(await ports()).toContain(81);
    await remove('web');
    expect(await ports()).toEqual([81]);
    await other.client.delete(services, named('web'));
    await until(async () => expect(await other.service('web')).toBeUndefined());
    expect(await find(id)).toMatchObject(untouched);
  } finally {
    await other.close();
    await elsewhere.stop();
  }
});

test('serves a port once it becomes free', async () => {
  const { id } = await makeForeign('theirs');
  const balancing = await lab.balancing();
  const spec = { name: 'their own', protocol: 'TCP', port: parsePort(80) } as const;
  const listener = await balancing.createListener({ ...spec, loadBalancerId: id }, call);
  await balancing.waiter.active(id, call);
  await lab.start({}, 'lab', 100);
  await lab.client.create(services, newService('web', {}, { [byId]: id }));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(() => expect(lab.events.join('\n')).toContain('PortTaken'));
  expect((await find(id))?.listeners.map(({ name }) => name)).toEqual(['their own']);
  await balancing.deleteListener(listener.id, call);
  await untilServed(lab, 'web');
  expect((await find(id))?.listeners.map(({ name }) => name)).toEqual(['default/web:TCP:80']);
});

test('naming another load balancer leaves nothing on the former one, and deletes one of Causeway', async () => {
  const first = await makeForeign('first');
  const second = await makeForeign('second');
  await lab.start();
  await serve('web', { [internalAnnotation]: 'true' });
  const own = await recorded('web');
  const name = async (id: string) => {
    const change = { metadata: { annotations: { [byId]: id } } };
    await lab.client.patchMerge(services, named('web'), change);
    await until(async () => expect(await recorded('web')).toBe(id));
    await untilServed(lab, 'web');
    expect((await find(id))?.listeners).toHaveLength(1);
  };
  await name(first.id);
  await until(async () => expect(await find(own ?? '')).toBeUndefined());
  await name(second.id);
  await until(async () => expect(await find(first.id)).toMatchObject(untouched));
  await remove('web');
  expect(await lab.balancers()).toMatchObject([
    { id: first.id, ...untouched },
    { id: second.id, ...untouched },
  ]);
});

test('a typing error in the ID of a load balancer does not affect the working one', async () => {
  await lab.start();
  await serve('web', { [internalAnnotation]: 'true' });
  const own = await recorded('web');
  const change = { metadata: { annotations: { [byId]: 'no-such' } } };
  await lab.client.patchMerge(services, named('web'), change);
  await until(() => expect(lab.events.join('\n')).toContain('NoSuchLoadBalancer'));
  expect((await find(own ?? ''))?.listeners).toHaveLength(1);
});

test("moves a user's floating IP to the load balancer that is named next", async () => {
  const first = await makeForeign('first');
  const second = await makeForeign('second');
  const spec = { floatingNetworkId: lab.publicNetwork, description: "the user's" };
  const { id, address } = await lab.neutron.floatingIps.create(spec, call);
  await lab.start();
  const options = 'loadbalancer.openstack.org/load-balancer-address';
  await serve('web', { [byId]: first.id, [options]: address });
  expect(await lab.floatingIps()).toMatchObject([{ id, portId: first.vipPortId }]);
  const change = { metadata: { annotations: { [byId]: second.id } } };
  await lab.client.patchMerge(services, named('web'), change);
  await until(async () =>
    expect(await lab.floatingIps()).toMatchObject([{ id, portId: second.vipPortId }]),
  );
  await until(async () => expect(await find(first.id)).toMatchObject(untouched));
});

test('uses an address that a shared load balancer got in the meantime', async () => {
  const { id, vipPortId } = await makeForeign('theirs');
  await lab.start();
  await serve('other');
  const spec = { floatingNetworkId: lab.publicNetwork, portId: vipPortId ?? '', description: '' };
  const { address } = await lab.neutron.floatingIps.create(spec, call);
  await serve('web', { [byId]: id });
  expect(await lab.addressOf('web')).toBe(address);
  await remove('web');
  expect((await lab.floatingIps()).map((floating) => floating.address)).toContain(address);
});
