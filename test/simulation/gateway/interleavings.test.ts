import { expect, test } from 'vitest';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { GatewayWorld } from './gateway-world.ts';
import { announcedWithoutPort, ownedTwice, portsOf } from './invariants.ts';

/** Two addresses for the first namespace, where Services conflict on port 80, one for each of the others. */
const desiredServices = [
  { namespace: 'default', name: 'a', ports: [80] },
  { namespace: 'default', name: 'b', ports: [80] },
  { namespace: 'default', name: 'c', ports: [443] },
  { namespace: 'default', name: 'd', ports: [25] },
  { namespace: 'red', name: 'a', ports: [80, 443] },
  { namespace: 'red', name: 'b', ports: [25] },
  { namespace: 'blue', name: 'a', ports: [80] },
];
const seeds = Array.from({ length: 60 }, (_, seed) => seed);

/** Timers fire early, and the drift detection runs all the time. */
async function crowdedWorld(seed: number): Promise<GatewayWorld> {
  const world = await GatewayWorld.create(seed, { hasteMs: 400, driftEveryMs: 300, workers: 8 });
  for (const name of ['red', 'blue']) await world.ensureNamespace(name);
  return world;
}

async function createAll(world: GatewayWorld): Promise<void> {
  const creations = desiredServices.map(({ namespace, name, ports }) =>
    world.user.create(services, {
      metadata: { namespace, name },
      spec: { type: 'LoadBalancer', ports: ports.map((port) => ({ name: `p${port}`, port })) },
    }),
  );
  await world.complete(Promise.all(creations));
}

const always = (world: GatewayWorld) => () => [
  ...ownedTwice(world),
  ...announcedWithoutPort(world),
];

test('concurrent Services get their own ports, and no port that is being created is deleted', async () => {
  for (const seed of seeds) {
    const world = await crowdedWorld(seed);
    world.startController();
    await createAll(world);
    await world.settle(always(world));
    const deletions = world.simulation.trace.filter((line) => line.includes('DELETE network'));
    expect(deletions, `seed ${seed}`).toEqual([]);
    expect(portsOf(world).size, `seed ${seed}`).toBe(4);
  }
});

test("Services that are created and deleted concurrently leave nothing behind and don't affect each other", async () => {
  for (const seed of seeds) {
    const world = await crowdedWorld(seed);
    world.startController();
    await createAll(world);
    const changes = desiredServices.map(({ namespace, name }, index) =>
      index % 2 === 0
        ? world.user.delete(services, { namespace, name })
        : world.user.patchMerge(
            services,
            { namespace, name },
            { spec: { ports: [{ name: 'p8080', port: 8080 }] } },
          ),
    );
    await world.complete(Promise.all(changes));
    await world.settle(() => announcedWithoutPort(world));
  }
});
