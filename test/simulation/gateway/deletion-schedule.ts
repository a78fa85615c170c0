import type { MemoryAgent } from '../../../packages/causeway/src/gateway/controller/fleet/testing/memory-agent.ts';
import type { Loss } from '../kubernetes-transport.ts';
import { GatewayWorld } from './gateway-world.ts';
import { announcedWithoutPort, ownedTwice } from './invariants.ts';
import { Pair, type Later } from './pair.ts';

/** Duration of the faults, and the time to recover afterwards: as in chaos. */
const troubleMs = 30_000;
const patienceMs = 180_000;

/**
 * A Service is deleted while both gateways time out, apply updates without acknowledging them, or are
 * unreachable; requests to Kubernetes and their answers get lost; the leader is killed, paused, stopped or
 * resumed. After that, nothing may be left of the Service.
 */
export async function runDeletionSchedule(seed: number): Promise<void> {
  const world = await GatewayWorld.create(seed, { hasteMs: 300, driftEveryMs: 10_000 });
  const { clock, random } = world.simulation;
  const always = () => [...ownedTwice(world), ...announcedWithoutPort(world)];
  const later = (ms: number, act: () => void) => clock.timer(random() * ms, act);
  const pair = new Pair(world);
  for (const [name, port] of [
    ['web', 80],
    ['mail', 25],
    ['other', 80],
  ] as const)
    await world.createService(name, { ports: [port] });
  await world.settle(always);

  const over = clock.monotonic() + troubleMs;
  for (const agent of world.agents.values()) trouble(agent, random, later);
  const lossChance = random() < 0.5 ? 0 : random();
  world.lossOf = (label): Loss => {
    const isSafe = clock.monotonic() > over || !/^(PATCH|PUT) /.test(label);
    if (isSafe || random() >= lossChance) return undefined;
    return random() < 0.5 ? 'request' : 'answer';
  };
  later(troubleMs, () => pair.trouble(random, later));
  await world.simulation.runFor(random() * 10_000);
  for (const name of random() < 0.5 ? ['web'] : ['web', 'other']) await world.deleteService(name);
  await world.simulation.runFor(Math.max(1, over - clock.monotonic()));

  for (const agent of world.agents.values()) agent.mode = 'works';
  pair.recover();
  const end = clock.monotonic() + patienceMs;
  await world.settle(() => (clock.monotonic() > end ? ['timeout'] : always()));
}

/** Applies one fault, and perhaps another. */
function trouble(agent: MemoryAgent, random: () => number, later: Later): void {
  const modes = ['hangs', 'hangs', 'mute', 'fails', 'works'] as const;
  for (let time = 0; time < 3; time += 1)
    later(troubleMs, () => {
      agent.mode = modes[Math.floor(random() * modes.length)] ?? 'works';
    });
}
