import { GatewayWorld } from './gateway-world.ts';
import { Pair } from './pair.ts';

const ports = [[80], [443], [80, 443]] as const;

/** From the end of the last suspension until recovery. */
const patienceMs = 60_000;

/**
 * Two controllers while Services are created, changed and deleted. Each machine is suspended repeatedly, with
 * its monotonic clock: when it resumes, its controller still believes that it leads, though the other one
 * does, and continues its work. Until it has read its lease again, nothing can prevent its writes; a minute
 * later no trace of them is left.
 */
export async function runLeadersSchedule(seed: number): Promise<void> {
  const world = await GatewayWorld.create(seed, { hasteMs: 300, driftEveryMs: 10_000 });
  const { clock, random } = world.simulation;
  const pick = (count: number) => Math.floor(random() * count);
  const pair = new Pair(world);
  const some = () => [...(ports[pick(ports.length)] ?? [80])];
  await world.createService('a', { ports: some() });
  for (const name of ['b', 'c']) {
    await world.simulation.runFor(random() * 3_000);
    const process = pair.processes[pick(2)];
    process?.suspend();
    clock.timer(random() * 40_000, () => {
      if (process?.isPaused === true) process.resume();
    });
    await world.createService(name, { ports: some() });
    await world.simulation.runFor(random() * 30_000);
    if (random() < 0.5) await world.patchService('a', { ports: [{ name: 'p25', port: 25 }] });
  }
  await world.deleteService('b');
  await world.simulation.runFor(random() * 3_000);
  pair.recover();
  const end = clock.monotonic() + patienceMs;
  await world.settle(() => (clock.monotonic() > end ? ['timeout'] : []));
}
