import { afterEach, beforeEach, expect, test } from 'vitest';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

let lab: ProviderLab;
beforeEach(async () => {
  lab = await ProviderLab.start();
});
afterEach(() => lab.close());

const names = ['n1', 'n2', 'n3'];
const setReady = (name: string, status: 'True' | 'Unknown') =>
  lab.client.patchMerge(
    nodes,
    { name },
    {
      status: {
        addresses: [{ type: 'InternalIP', address: `10.0.0.${name.slice(1)}` }],
        conditions: [{ type: 'Ready', status }],
      },
    },
    { subresource: 'status' },
  );
const endpointAt = (ready: boolean) => [
  { addresses: ['10.1.0.7'], nodeName: 'n1', conditions: { ready, serving: ready } },
];

beforeEach(async () => {
  for (const name of names) {
    await lab.client.create(nodes, { metadata: { name } });
    await setReady(name, 'True');
  }
});

test('gateways keep all nodes when all kubelets lose the API server', async () => {
  lab.layer = 'NodePort';
  lab.startController();
  await lab.client.create(services, newService('web'));
  await lab.untilServed('web');
  for (const agent of lab.agents) await until(() => expect(agent.nodes.size).toBe(3));
  for (const name of names) await setReady(name, 'Unknown');
  await lab.untilEvent('Warning MassLossHeld: ');
  await lab.client.create(services, newService('later', 81));
  await lab.untilServed('later');
  for (const agent of lab.agents) expect(agent.nodes.size).toBe(3);
  for (const name of names) await setReady(name, 'True');
  await lab.untilEvent('Normal GuardEnded: The guard for nodes');
});

test('gateways keep the pods of all nodes that lost the API server, also after a restart', async () => {
  lab.startController();
  await lab.client.create(services, newService('web'));
  await lab.client.create(endpointSlices, {
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: endpointAt(true),
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
  const backends = () =>
    lab.agents.map(({ holds }) => {
      const { destinations = [] } = [...holds.values()][0] ?? {};
      return destinations.filter(({ weight }) => weight > 0).map(({ address }) => address);
    });
  await until(() => expect(backends()).toEqual([['10.1.0.7'], ['10.1.0.7']]));
  for (const name of names) await setReady(name, 'Unknown');
  await lab.untilEvent('Warning MassLossHeld: ');
  await lab.client.patchMerge(endpointSlices, named('web-1'), { endpoints: endpointAt(false) });
  await lab.restartController();
  await lab.client.create(services, newService('later', 81));
  await lab.untilServed('later');
  expect(backends()).toEqual([['10.1.0.7'], ['10.1.0.7']]);
  for (const name of names) await setReady(name, 'True');
  await until(() => expect(backends()).toEqual([[], []]));
});
