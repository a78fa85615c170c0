import { afterEach, beforeEach, expect, test } from 'vitest';
import { quickPauses } from '../../../test/openstack/quick-clock.ts';
import { newService, newSlice, OctaviaLab, until } from '../../../test/octavia/lab.ts';
import { endpointSlices, services } from '../../kube/resources.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../sandbox/kubernetes/start.ts';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '../../sandbox/openstack/cloud.ts';

let kubernetes: EmbeddedKubernetes;
let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
const named = (name: string) => ({ namespace: 'default', name });

beforeEach(async () => {
  kubernetes = await startEmbeddedKubernetes();
  cloud = await startEmbeddedOpenStack();
  const { authUrl, region } = cloud;
  lab = await OctaviaLab.open({ ...kubernetes, authUrl, region, cloudOptions: quickPauses });
});

afterEach(async () => {
  await lab.close();
  await cloud.stop();
  await kubernetes.stop();
});

async function serve(name: string, addresses = ['10.10.1.1', '10.10.1.2']): Promise<void> {
  await lab.client.create(services, newService(name));
  await lab.client.create(endpointSlices, newSlice(name, addresses));
  await until(async () => expect(await lab.addressOf(name)).toBeDefined());
}

test('a Service becomes a KuryrLoadBalancer and a load balancer with a floating IP; all goes with it', async () => {
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
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.klb('web')).toBeUndefined();
  expect(await lab.balancers()).toEqual([]);
  expect(await lab.floatingIps()).toEqual([]);
});
