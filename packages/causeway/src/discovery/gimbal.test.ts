import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { endpoints, namespaces, services } from '@causeway/kubernetes/objects/resources';

let world: World;
/** A load balancer without a name, for which Gimbal and Causeway use the same name. */
let id: string;
beforeEach(async () => {
  world = await startWorld();
  id = world.addLoadBalancer('demo', '', '10.10.0.5').id;
  await world.client.create(namespaces, { metadata: { name: 'demo' } });
});
afterEach(() => world.stop());

/** The objects that Gimbal's discoverer leaves. */
async function leaveObjects(loadBalancerId = id): Promise<void> {
  const metadata = {
    namespace: 'demo',
    name: `east-${id}`,
    labels: {
      'gimbal.projectcontour.io/backend': 'east',
      'gimbal.projectcontour.io/service': loadBalancerId,
      'gimbal.projectcontour.io/load-balancer-id': loadBalancerId,
      'gimbal.projectcontour.io/load-balancer-name': '',
      team: 'blue',
    },
  };
  const ports = [{ name: 'port-80', port: 80, protocol: 'TCP' }] as const;
  await world.client.create(services, { metadata, spec: { clusterIP: 'None', ports } });
  const subsets = [{ addresses: [{ ip: '10.10.0.9' }], ports }];
  await world.client.create(endpoints, { metadata, subsets });
}

test("leaves Gimbal's objects alone, and the Event says how to adopt them", async () => {
  await leaveObjects();
  expect(await world.once()).toMatchObject({ invalid: 1, refused: 1, written: 0 });
  expect(world.events.join()).toMatch(/Warning NameTaken Service\/demo\/east-.*adoptGimbal/);
});

test.each(['EndpointSlice', 'Endpoints'])(
  'adopts them in place, with their endpoints as %s',
  async (endpointsKind) => {
    await leaveObjects();
    const [before] = await world.services();
    const settings = { adoptGimbal: true, endpointsKind };
    expect(await world.once(settings)).toMatchObject({ replicated: 1, refused: 0, failures: 0 });
    await world.once(settings);
    expect(await world.once(settings)).toMatchObject({ written: 0, removed: 0 });
    const [after, ...others] = await world.services();
    expect(others).toEqual([]);
    expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(after?.metadata?.labels).toMatchObject({ 'causeway.dev/backend': 'east', team: 'blue' });
    expect(after?.spec?.ports).toMatchObject([{ name: 'http-80' }]);
    // Kubernetes mirrors none of Gimbal's Endpoints beside the new slices.
    const isSlices = endpointsKind === 'EndpointSlice';
    const older = (await world.endpoints()).flatMap(({ subsets = [] }) =>
      subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)),
    );
    expect(older).toEqual(isSlices ? [] : ['10.10.0.5']);
    expect(await world.slices()).toHaveLength(isSlices ? 1 : 0);
  },
);

test('does not adopt the object of another load balancer', async () => {
  await leaveObjects('ffffffff-0d3b-4c6f-9a7e-112233445566');
  expect(await world.once({ adoptGimbal: true })).toMatchObject({ refused: 1, written: 0 });
});
