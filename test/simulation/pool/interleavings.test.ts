import { expect, test } from 'vitest';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { PoolWorld } from './pool-world.ts';

const seeds = Array.from({ length: 15 }, (_, index) => index + 1);
const names = ['a', 'b', 'c'];

/** Kills controllers at calls that the seed chooses; there is always a next one. */
function keepKilling(world: PoolWorld, times: number): void {
  const { random } = world.simulation;
  let left = times;
  let current: SimulatedProcess | undefined;
  world.onStep = () => {
    if (current !== undefined && !current.isKilled) return;
    current = world.startController();
    if (left === 0) return;
    left -= 1;
    current.killAt(1 + Math.floor(random() * 40), random() < 0.5 ? 'before' : 'after');
  };
}

const addressesOf = (world: PoolWorld) =>
  names.map((name) => world.addressOf(name)).filter((address) => address !== undefined);

const held = (world: PoolWorld) => world.ipam.addresses().flatMap(({ owners }) => owners);

test.each(['cilium', 'kube-vip'] as const)(
  'Services of %s never share an address and leave nothing while they change and controllers are killed',
  async (kind) => {
    for (const seed of seeds) {
      // Two addresses for three Services: one waits for the end of another address's quarantine.
      const world = await PoolWorld.create(seed, '192.0.2.1-192.0.2.2', kind, { hasteMs: 300 });
      keepKilling(world, 4);
      const creations = names.map((name) =>
        world.user.create(services, {
          metadata: { namespace: 'default', name },
          spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
        }),
      );
      const isServed = (count: number) => () => {
        const addresses = addressesOf(world);
        expect(new Set(addresses).size, `seed ${seed}`).toBe(addresses.length);
        return addresses.length >= count;
      };
      await world.complete(Promise.all(creations));
      await world.until(isServed(2));
      const [first = ''] = names.filter((name) => world.addressOf(name) !== undefined);
      await world.deleteService(first);
      await world.until(() => {
        const others = names.filter((name) => name !== first);
        return others.every((name) => world.addressOf(name) !== undefined);
      }, 60_000);
      for (const name of names.filter((each) => each !== first)) await world.deleteService(name);
      await world.until(() => {
        const isGone = names.every((name) =>
          world.services().every(({ metadata }) => metadata?.name !== name),
        );
        const isFreed = held(world).every((owner) => owner === 'control-plane');
        return isGone && isFreed && world.announcer.announcing.size === 0;
      });
    }
  },
);
