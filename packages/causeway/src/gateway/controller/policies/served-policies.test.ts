import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  endpointSlices,
  networkPolicies,
  pods,
  services,
} from '@causeway/kubernetes/objects/resources';
import { manyRanges } from '@causeway/kubernetes/objects/large-service.testing';
import { policyBudget } from './policy-budget.ts';
import { named, newService, ProviderLab, until } from '../simulated-provider.testing.ts';

let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

async function createPod(): Promise<void> {
  const ip = '10.1.0.7';
  const containers = [{ name: 'c', image: 'i' }];
  await lab.client.create(pods, { metadata: named('pod-1'), spec: { containers } });
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
  await lab.client.patchMerge(pods, named('pod-1'), { status }, { subresource: 'status' });
  await lab.client.create(endpointSlices, {
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
}

test('closes Services with network policies beyond the budget, and serves them again later', async () => {
  const [agent] = lab.agents;
  lab.startController();
  await createPod();
  await lab.client.create(services, newService('web'));
  await lab.untilServed('web');
  await until(() => expect([...agent.holds.values()][0]?.destinations).toHaveLength(1));

  const from = manyRanges(policyBudget.blocks + 1).map((cidr) => ({ ipBlock: { cidr } }));
  await lab.client.create(networkPolicies, {
    metadata: named('large'),
    spec: { podSelector: {}, ingress: [{ from }] },
  });
  await until(() => expect(lab.events.join()).toContain('OverBudget: The NetworkPolicies'));
  await until(() => expect(agent.holds.size).toBe(0));
  const condition = (await lab.read('web'))?.status?.conditions?.[0];
  expect(condition).toMatchObject({ status: 'False', reason: 'OverBudget' });
  for (const { policies } of agent.pushes) {
    for (const { ingress } of policies.values()) expect(ingress).toEqual([]);
  }

  const spec = { ingress: [{ from: from.slice(1) }] };
  await lab.client.patchMerge(networkPolicies, named('large'), { spec });
  await until(() => expect([...agent.holds.values()][0]?.destinations).toHaveLength(1));
  await until(() => expect(agent.policies.size).toBe(1));
});
