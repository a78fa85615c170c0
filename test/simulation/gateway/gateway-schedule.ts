import { GatewayWorld } from './gateway-world.ts';
import { announcedWithoutPort, ownedTwice } from './invariants.ts';

/**
 * Two Services that may conflict are created and one is deleted, while the controller is killed at a call
 * that the seed chooses.
 */
export async function runGatewaySchedule(seed: number): Promise<void> {
  const world = await GatewayWorld.create(seed, { hasteMs: 300, driftEveryMs: 5_000, workers: 4 });
  const { random } = world.simulation;
  const pick = (count: number) => Math.floor(random() * count);
  const always = () => [...ownedTwice(world), ...announcedWithoutPort(world)];
  const dying = world.startController();
  dying.killAt(1 + pick(60), random() < 0.5 ? 'before' : 'after');
  for (const name of ['a', 'b']) {
    await world.createService(name, { ports: [[80], [443], [80, 443]][pick(3)] ?? [80] });
  }
  let steps = 0;
  await world.simulation.runUntil(() => {
    steps += 1;
    return dying.isKilled || steps > 400;
  });
  dying.kill();
  world.startController();
  if (random() < 0.5) await world.patchService('a', { ports: [{ name: 'p25', port: 25 }] });
  await world.deleteService('b');
  await world.settle(always);
}
