import { expect } from 'vitest';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { GatewayWorld } from './gateway-world.ts';
import { announcedWithoutPort } from './invariants.ts';
import type { Scenario } from './scenario.ts';

const seed = 7;
/** Long enough for late effects: Events, a last resync. */
const lingerMs = 5_000;

/** The outside calls of an undisturbed operation, in order. */
export async function callsOf(scenario: Scenario): Promise<readonly string[]> {
  const world = await GatewayWorld.create(seed, scenario.world);
  const process = await scenario.prepare(world);
  const before = callsBefore(scenario, process);
  await scenario.operate(world);
  await settle(world, scenario, alwaysTrue(world, scenario));
  await world.simulation.runFor(lingerMs);
  return process.callLabels.slice(before);
}

/** Interrupts the operation at one of its calls; a new controller has to continue from there. */
export async function interrupt(
  scenario: Scenario,
  call: number,
  moment: 'before' | 'after',
): Promise<void> {
  const world = await GatewayWorld.create(seed, scenario.world);
  const process = await scenario.prepare(world);
  const addresses = addressesOf(world);
  process.killAt(callsBefore(scenario, process) + call, moment);
  const always = alwaysTrue(world, scenario);
  await scenario.operate(world);
  await world.simulation.runUntil(() => process.isKilled, { maxSteps: 20_000 });
  const next = scenario.hasStandby === true ? undefined : world.startController();
  await settle(world, scenario, always);
  await world.simulation.runFor(lingerMs);
  await settle(world, scenario, always);
  next?.kill();
  const now = addressesOf(world);
  for (const [key, address] of addresses) {
    const name = key.slice('default/'.length);
    const mayMove = scenario.touches.includes(name) && scenario.stay?.includes(name) !== true;
    if (!mayMove) expect(`${key} ${now.get(key)}`).toBe(`${key} ${address}`);
  }
}

const settle = (world: GatewayWorld, { isDone }: Scenario, always: () => readonly string[]) =>
  world.settle(always, () => isDone?.(world) ?? []);

const callsBefore = (scenario: Scenario, process: SimulatedProcess): number =>
  scenario.isStart === true ? 0 : process.calls;

/**
 * Invariants of every step: no gateway announces an address without a port, and unaffected Services are
 * served throughout.
 */
function alwaysTrue(world: GatewayWorld, scenario: Scenario): () => readonly string[] {
  const touched = new Set(scenario.touches.map((name) => `default/${name}`));
  const bystanders = [...world.agents].flatMap(([name, agent]) =>
    [...agent.holds]
      .filter(([, { service = '' }]) => !touched.has(service))
      .map(([key, { service }]) => ({ name, agent, key, service })),
  );
  return () => [
    ...(scenario.losesPorts === true ? [] : announcedWithoutPort(world)),
    ...(scenario.always?.(world) ?? []),
    ...bystanders
      .filter(({ agent, key, service }) => agent.holds.get(key)?.service !== service)
      .map(({ name, key, service }) => `${name} no longer serves ${key} for ${service}`),
  ];
}

function addressesOf(world: GatewayWorld): Map<string, string> {
  return new Map(
    world
      .services()
      .map(({ metadata, status }) => [
        `${metadata?.namespace}/${metadata?.name}`,
        (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).join(),
      ]),
  );
}
