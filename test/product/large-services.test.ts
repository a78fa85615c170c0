import { afterAll, beforeAll, expect, test } from 'vitest';
import { largeService } from '../../packages/kubernetes/src/objects/large-service.testing.ts';
import { events, leases, services } from '../../packages/kubernetes/src/objects/resources.ts';
import { waitFor } from '../services/wait-for.ts';
import { GatewayProcesses, untilServes } from './gateway-processes.ts';

const lease = { namespace: 'kube-system', name: 'causeway-controller' };
const count = 10;
let processes: GatewayProcesses;

beforeAll(async () => {
  processes = await GatewayProcesses.prepare('large-services');
});
afterAll(() => processes?.close());

/** Two million pairs of a port and a source range each, as a tenant can create them. */
async function createLarge(): Promise<void> {
  const { spec } = largeService(1_000, 2_000);
  const { clusterIP: _, clusterIPs: __, ...rest } = spec ?? {};
  for (let index = 0; index < count; index += 1) {
    const metadata = {
      namespace: 'default',
      name: `large${index}`,
      annotations: { 'causeway.dev/idle-after': '9'.repeat(200_000) },
    };
    await processes.client.create(services, {
      metadata,
      spec: { ...rest, allocateLoadBalancerNodePorts: false },
    });
  }
}

async function refused(): Promise<Set<string | undefined>> {
  const names = new Set<string | undefined>();
  for await (const { reason, involvedObject } of processes.client.list(events, {
    namespace: 'default',
  })) {
    if (reason === 'OverBudget') names.add(involvedObject?.name);
  }
  return names;
}

test("a tenant's largest Services don't cost the leader its lease and don't affect other Services", async () => {
  const agent = await processes.startAgent('g1');
  await processes.startController([agent], { electsLeader: true });
  await processes.create(['before']);
  const before = await processes.addressesOf(['before']);
  const held = await processes.client.get(leases, lease);

  await createLarge();
  await processes.create(['after']);
  const both = await processes.addressesOf(['before', 'after']);
  expect(both).toEqual(expect.arrayContaining(before));
  await waitFor('an Event on each large Service', async () => (await refused()).size === count);
  await untilServes(agent, both);
  const { spec } = await processes.client.get(leases, lease);
  expect(spec?.holderIdentity).toBe(held.spec?.holderIdentity);
  expect(spec?.leaseTransitions).toBe(held.spec?.leaseTransitions);
});
