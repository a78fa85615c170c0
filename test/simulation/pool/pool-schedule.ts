import type { SimulatedKind } from './simulated-announcer.ts';
import { PoolWorld } from './pool-world.ts';

/**
 * Two Services and one address: the second waits for the first, the controller is killed in between, and the
 * announcer may be slow to stop. When both are deleted, nothing is reserved.
 */
export async function runPoolSchedule(seed: number): Promise<void> {
  const kind: SimulatedKind = seed % 2 === 0 ? 'cilium' : 'kube-vip';
  const world = await PoolWorld.create(seed, '192.0.2.1', kind, { hasteMs: 300 });
  const { random } = world.simulation;
  let current = world.startController();
  current.killAt(1 + Math.floor(random() * 40), random() < 0.5 ? 'before' : 'after');
  world.onStep = () => {
    if (current.isKilled) current = world.startController();
  };
  await world.createService('a');
  await world.createService('b');
  const served = () => ['a', 'b'].filter((name) => world.addressOf(name) !== undefined);
  await world.until(() => served().length > 0);
  const [first = ''] = served();
  if (served().length > 1) throw new Error('two Services have one address');
  if (random() < 0.5) world.pauseAnnouncer(random() * 60_000);
  await world.deleteService(first);
  await world.until(() => served().length > 0 && !served().includes(first), 60_000);
  const [second = ''] = served();
  await world.deleteService(second);
  const held = () => world.ipam.addresses().some(({ owners }) => owners.length > 0);
  await world.until(() => world.services().every(({ metadata }) => metadata?.name !== second));
  await world.until(() => !held(), 60_000);
}
