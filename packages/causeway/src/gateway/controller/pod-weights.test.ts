import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { endpointSlices, pods, services } from '@causeway/kubernetes/objects/resources';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: ProviderLab;

beforeAll(async () => {
  lab = await ProviderLab.start();
});

afterAll(() => lab.close());

const names = ['pod-1', 'pod-2'];

async function createPods(): Promise<void> {
  const containers = [{ name: 'c', image: 'i' }];
  for (const [index, name] of names.entries()) {
    await lab.client.create(pods, { metadata: named(name), spec: { containers } });
    const ip = `10.1.0.${index + 1}`;
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
    await lab.client.patchMerge(pods, named(name), { status }, { subresource: 'status' });
  }
  await lab.client.create(endpointSlices, {
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: names.map((name, index) => ({
      addresses: [`10.1.0.${index + 1}`],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace: 'default', name },
    })),
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
}

const weigh = (name: string, weight: string | null) =>
  lab.client.patchMerge(pods, named(name), {
    metadata: { annotations: { 'causeway.dev/weight': weight } },
  });

const weights = () =>
  [...(lab.agents[0].holds.values().next().value?.destinations ?? [])].map(({ weight }) => weight);

test('gateways get the weights of pods, and each change', async () => {
  await createPods();
  await weigh('pod-1', '3');
  lab.startController();
  await lab.client.create(services, newService('web'));
  await until(() => expect(weights()).toEqual([3, 1]));
  await weigh('pod-1', '0');
  await until(() => expect(weights()).toEqual([0, 1]));
  await weigh('pod-2', 'many');
  await lab.untilEvent('Warning InvalidWeight: The annotation causeway.dev/weight is not');
  expect(weights()).toEqual([0, 1]);
  await weigh('pod-2', '0');
  await until(() => expect(weights()).toEqual([0, 0]));
  await lab.untilEvent('PortNotServed: TCP/80: all pods have the weight 0');
  await weigh('pod-1', null);
  await until(() => expect(weights()).toEqual([1, 0]));
});
