import fs from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointSlices, services } from '../../packages/kubernetes/src/objects/resources.ts';
import { kuryrLoadBalancers } from '../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { leaveAsKuryr } from '../octavia/kuryr.ts';
import { essenceOf, never, newService, newSlice, OctaviaLab } from '../octavia/lab.ts';
import { until, untilServed } from '../octavia/until.ts';
import { prepareKubernetes, startKubernetes, type RealKubernetes } from '../services/kubernetes.ts';
import { isAvailable } from '../services/missing.ts';
import { prepareOpenStack, startOpenStack, type RealOpenStack } from '../services/openstack.ts';

const available = await isAvailable(async () => {
  await prepareKubernetes();
  await prepareOpenStack();
});
const patienceMs = 240_000;
const named = (name: string) => ({ namespace: 'default', name });

describe.skipIf(!available)('Services on real Octavia, from a real kube-apiserver', () => {
  let kubernetes: RealKubernetes;
  let cloud: RealOpenStack;
  let lab: OctaviaLab;
  let subnet = '';

  beforeAll(async () => {
    [kubernetes, cloud] = await Promise.all([startKubernetes(), startOpenStack()]);
    const kubeconfig = await fs.readFile(kubernetes.kubeconfig, 'utf8');
    lab = await OctaviaLab.open({ ...cloud, kubeconfig });
    subnet = await lab.serviceSubnet();
  });

  afterAll(async () => {
    await lab?.close();
    await Promise.all([cloud?.stop(), kubernetes?.stop()]);
  });

  const served = (name: string) => untilServed(lab, name, patienceMs);
  const eventually = (check: () => Promise<void>) => until(check, patienceMs);
  const balancerOf = async (name: string) =>
    (await lab.balancers()).find((balancer) => balancer.name === `default/${name}`);

  test("adopts Kuryr's objects in either order, and deletes everything with the Service", async () => {
    await leaveAsKuryr(lab, { name: 'old', type: 'LoadBalancer', subnet });
    const before = await balancerOf('old');
    const address = await lab.addressOf('old');
    await lab.start({ vip: 'ClusterIP', clusterIP: 'all', subnets: [subnet] }, 'real', 5_000);
    await lab.client.create(services, newService('first'));
    await lab.client.create(endpointSlices, newSlice('second', ['10.10.1.1']));
    await eventually(async () => expect(await lab.klb('second')).toBeDefined());
    await lab.client.create(endpointSlices, newSlice('first', ['10.10.1.1']));
    await lab.client.create(services, newService('second'));
    for (const name of ['old', 'first', 'second']) await served(name);
    const after = await balancerOf('old');
    expect(after && essenceOf(after)).toEqual(before && essenceOf(before));
    expect(await lab.addressOf('old')).toBe(address);
    const shape = async (name: string) => {
      const { listeners = [], vipAddress } = (await balancerOf(name)) ?? {};
      const clusterIp = (await lab.service(name))?.spec?.clusterIP;
      return [
        vipAddress === clusterIp,
        ...listeners.map((it) =>
          it.members.map(({ address: ip, port }) => `${it.port}>${ip}:${port}`).join(),
        ),
      ];
    };
    expect(await shape('first')).toEqual([true, '80>10.10.1.1:8080']);
    expect(await shape('second')).toEqual(await shape('first'));
    for (const name of ['old', 'second']) await lab.client.delete(services, named(name));
    for (const name of ['old', 'second']) {
      await eventually(async () => expect(await lab.service(name)).toBeUndefined());
    }
    expect((await lab.balancers()).map(({ name }) => name)).toEqual(['default/first']);
    expect(await lab.floatingIps()).toHaveLength(1);
  });

  test('scales, and changes ports and type in both directions', async () => {
    await lab.client.update(
      endpointSlices,
      newSlice('first', ['10.10.1.1', '10.10.1.2', '10.10.1.3']),
    );
    await eventually(async () =>
      expect((await balancerOf('first'))?.listeners[0]?.members).toHaveLength(3),
    );
    const { id } = (await balancerOf('first')) ?? {};
    await lab.client.patchMerge(services, named('first'), {
      spec: { ports: [{ port: 81, targetPort: 8080 }] },
    });
    await eventually(async () => {
      const balancer = await balancerOf('first');
      expect(balancer?.listeners.map((it) => [it.port, it.members.length])).toEqual([[81, 3]]);
    });
    await lab.client.patchMerge(services, named('first'), { spec: { type: 'ClusterIP' } });
    await eventually(async () => expect(await lab.floatingIps()).toEqual([]));
    await lab.client.patchMerge(services, named('first'), { spec: { type: 'LoadBalancer' } });
    await eventually(async () => expect(await lab.addressOf('first')).toBeDefined());
    expect((await balancerOf('first'))?.id).toBe(id);
  });

  test('fills an emptied status, recreates a deleted load balancer, and deletes everything at the end', async () => {
    const { id } = (await balancerOf('first')) ?? {};
    const klb = await lab.klb('first');
    const status = Object.fromEntries(Object.keys(klb?.status ?? {}).map((key) => [key, null]));
    await lab.client.patchMerge(
      kuryrLoadBalancers,
      named('first'),
      { status },
      { subresource: 'status' },
    );
    await eventually(async () =>
      expect((await lab.klb('first'))?.status?.loadbalancer?.id).toBe(id),
    );
    await served('first');
    expect((await balancerOf('first'))?.id).toBe(id);
    const address = await lab.addressOf('first');
    await (await lab.balancing()).deleteLoadBalancer(id ?? '', { signal: never, cascade: true });
    await eventually(async () => {
      const now = (await lab.klb('first'))?.status;
      expect(now?.loadbalancer?.id).toBeDefined();
      expect(now?.loadbalancer?.id).not.toBe(id);
    });
    await served('first');
    expect(await lab.addressOf('first')).toBe(address);
    await lab.client.delete(services, named('first'));
    await eventually(async () => expect(await lab.service('first')).toBeUndefined());
    expect(await lab.klb('first')).toBeUndefined();
    expect(await lab.balancers()).toEqual([]);
    expect(await lab.floatingIps()).toEqual([]);
  });
});
