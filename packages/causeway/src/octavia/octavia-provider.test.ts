import { afterEach, describe, expect, test } from 'vitest';
import { openEmbeddedLab, type CloudOptions } from '../../../../test/octavia/embedded-lab.ts';
import { newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';

let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });

async function begin(options: CloudOptions): Promise<void> {
  ({ lab, stop } = await openEmbeddedLab(options));
}

afterEach(() => stop());

async function serve(name: string, annotations = {}): Promise<void> {
  await lab.client.create(services, newService(name, {}, annotations));
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1', '10.10.1.2']));
  await untilServed(lab, name);
}

async function remove(name: string): Promise<void> {
  await lab.client.delete(services, named(name));
  await until(async () => expect(await lab.service(name)).toBeUndefined());
}

describe.each(['octavia', 'lbaas-v2'] as const)('on %s', (loadBalancing) => {
  test('a Service becomes a KuryrLoadBalancer and a load balancer with a floating IP, all deleted with it', async () => {
    await begin({ loadBalancing });
    await lab.start();
    await serve('web');
    const [balancer, ...others] = await lab.balancers();
    expect(others).toEqual([]);
    expect(balancer).toMatchObject({
      name: 'default/web',
      listeners: [
        {
          name: 'default/web:TCP:80',
          protocol: 'TCP',
          port: 80,
          members: [
            { address: '10.10.1.1', port: 8080, name: 'default/web-pod-0:8080' },
            { address: '10.10.1.2', port: 8080, name: 'default/web-pod-1:8080' },
          ],
        },
      ],
    });
    const [floating] = await lab.floatingIps();
    expect(floating).toMatchObject({
      address: await lab.addressOf('web'),
      portId: balancer?.vipPortId,
    });
    const klb = await lab.klb('web');
    expect(klb?.metadata?.finalizers).toEqual(['kuryr.openstack.org/kuryrloadbalancer-finalizers']);
    expect(klb?.status).toMatchObject({
      version: 1,
      loadbalancer: { id: balancer?.id, name: 'default/web', port_id: balancer?.vipPortId },
      listeners: [{ name: 'default/web:TCP:80', loadbalancer_id: balancer?.id }],
      members: [{ ip: '10.10.1.1' }, { ip: '10.10.1.2' }],
      service_pub_ip_info: { ip_addr: floating?.address, alloc_method: 'pool' },
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    expect((await lab.service('web'))?.metadata?.finalizers).toContain(
      'kuryr.openstack.org/service-finalizer',
    );
    await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.3']));
    await until(async () => {
      const [after] = await lab.balancers();
      expect(after?.listeners[0]?.members).toMatchObject([{ address: '10.10.1.3' }]);
    });
    const events = () => lab.events.map((event) => event.split(' ').slice(1, 3).join(' '));
    await until(() => expect(events()).toContain('Normal EnsuredLoadBalancer:'));
    expect(events().filter((event) => !event.startsWith('Warning'))).toEqual([
      'Normal EnsuringLoadBalancer:',
      'Normal KuryrEnsureLB:',
      'Normal KuryrEnsureFIP:',
      'Normal KuryrEnsuredLB:',
      'Normal EnsuredLoadBalancer:',
    ]);
    await remove('web');
    await until(() =>
      expect(events()).toEqual(
        expect.arrayContaining([
          'Normal DeletingLoadBalancer:',
          'Normal KuryrReleaseFIP:',
          'Normal KuryrReleaseLB:',
          'Normal DeletedLoadBalancer:',
        ]),
      ),
    );
    expect(await lab.klb('web')).toBeUndefined();
    expect(await lab.balancers()).toEqual([]);
    expect(await lab.floatingIps()).toEqual([]);
  });
});

test('replaces the load balancer for another provider, and keeps the floating IP', async () => {
  const providers = new Map([
    ['amphora', ''],
    ['ovn', ''],
  ]);
  await begin({ offerings: { providers } });
  await lab.start({ provider: 'amphora' });
  await serve('web');
  const address = await lab.addressOf('web');
  await lab.stop();
  await lab.start({ provider: 'ovn' });
  await until(async () =>
    expect((await lab.klb('web'))?.status?.loadbalancer?.provider).toBe('ovn'),
  );
  await untilServed(lab, 'web');
  await until(async () => {
    const [balancer, ...others] = await lab.balancers();
    expect(others).toEqual([]);
    expect(await lab.floatingIps()).toMatchObject([{ address, portId: balancer?.vipPortId }]);
  });
  await until(() => expect(lab.events.join('\n')).toContain('KuryrUpdateProvider'));
});

test('replaces the load balancer for another internal address, with an Event', async () => {
  await begin({});
  await lab.start();
  const internal = { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'true' };
  await lab.client.create(services, newService('web', { loadBalancerIP: '10.10.0.50' }, internal));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(async () => expect(await lab.addressOf('web')).toBe('10.10.0.50'));
  await lab.client.patchMerge(services, named('web'), { spec: { loadBalancerIP: '10.10.0.51' } });
  await until(async () => expect(await lab.addressOf('web')).toBe('10.10.0.51'));
  expect(lab.events.join('\n')).toContain('web Warning KuryrUpdateAddress');
});

test('keeps a floating IP on request, and it can be requested again', async () => {
  await begin({});
  await lab.start({}, 'lab', 100);
  await serve('web', { 'loadbalancer.openstack.org/keep-floatingip': 'true' });
  const address = await lab.addressOf('web');
  await remove('web');
  expect(await lab.floatingIps()).toMatchObject([{ address, portId: undefined }]);
  await serve('again', { 'loadbalancer.openstack.org/load-balancer-address': address });
  await until(async () => expect(await lab.addressOf('again')).toBe(address));
  await remove('again');
  expect(await lab.floatingIps()).toMatchObject([{ address, portId: undefined }]);
});

test('keeps a floating IP when that is requested right before the deletion', async () => {
  await begin({});
  await lab.start();
  await serve('web');
  const address = await lab.addressOf('web');
  await lab.stop();
  await lab.client.patchMerge(services, named('web'), {
    metadata: { annotations: { 'loadbalancer.openstack.org/keep-floatingip': 'true' } },
  });
  await lab.client.delete(services, named('web'));
  await lab.start();
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.floatingIps()).toMatchObject([{ address, portId: undefined }]);
});
