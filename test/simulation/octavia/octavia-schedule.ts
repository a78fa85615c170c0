import { madeTwice } from './invariants.ts';
import { OctaviaWorld, portsOf } from './octavia-world.ts';

/**
 * One Service is created, changed and deleted, while controllers are killed at calls that the seed chooses.
 */
export async function runOctaviaSchedule(seed: number): Promise<void> {
  const world = new OctaviaWorld(seed, { hasteMs: 200 });
  const { random } = world.simulation;
  const pick = (count: number) => Math.floor(random() * count);
  const dying = world.startController();
  dying.killAt(1 + pick(40), random() < 0.5 ? 'before' : 'after');
  await world.createService('web', { ports: [80, 81].slice(pick(2)) });
  await world.setEndpoints('web', ['10.10.1.1', '10.10.1.2'].slice(pick(2)));
  await world.simulation.runFor(pick(20_000));
  dying.kill();
  const next = world.startController();
  if (random() < 0.5) await world.patchService('web', { ports: portsOf([80, 82]) });
  await world.settle(() => madeTwice(world), 60_000);
  await world.deleteService('web');
  await world.settle(() => madeTwice(world), 60_000);
  next.kill();
  const left = world.openstack.octavia.loadBalancers.all().length;
  if (left > 0) throw new Error(`${left} load balancers are left over`);
}
