import { expect, test } from 'vitest';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { madeTwice } from './invariants.ts';
import { OctaviaWorld } from './octavia-world.ts';
import { scenarios, type Scenario, type ScenarioName } from './scenarios.ts';

const seed = 11;
/** Long enough for late effects: Events, a last resync. */
const lingerMs = 5_000;

const callsBefore = (scenario: Scenario, process: SimulatedProcess): number =>
  scenario.isStart === true ? 0 : process.calls;

/** The outside calls of an undisturbed operation, in order. */
async function callsOf(scenario: Scenario): Promise<readonly string[]> {
  const world = new OctaviaWorld(seed);
  const process = await scenario.prepare(world);
  const before = callsBefore(scenario, process);
  await scenario.operate(world);
  await world.settle(() => madeTwice(world));
  await world.simulation.runFor(lingerMs);
  return process.callLabels.slice(before);
}

/** Interrupts the operation at one of its calls; a new controller has to continue from there. */
async function interrupt(
  scenario: Scenario,
  call: number,
  moment: 'before' | 'after',
): Promise<void> {
  const world = new OctaviaWorld(seed);
  const process = await scenario.prepare(world);
  const kept = scenario.stays === true ? holdingsOf(world) : undefined;
  process.killAt(callsBefore(scenario, process) + call, moment);
  await scenario.operate(world);
  await world.simulation.runUntil(() => process.isKilled, { maxSteps: 30_000 });
  const next = world.startController();
  await world.settle(() => madeTwice(world));
  await world.simulation.runFor(lingerMs);
  await world.settle(() => madeTwice(world));
  next.kill();
  if (kept !== undefined) expect(holdingsOf(world)).toBe(kept);
}

function holdingsOf(world: OctaviaWorld): string {
  const web = world.klbs().find(({ metadata }) => metadata?.name === 'web');
  const row = world.openstack.octavia.loadBalancers
    .all()
    .find(({ name }) => name === 'default/web');
  const ingress = world.services().find(({ metadata }) => metadata?.name === 'web')
    ?.status?.loadBalancer;
  return JSON.stringify([web?.metadata?.uid, row?.id, ingress]);
}

for (const [name, scenario] of Object.entries(scenarios) as [ScenarioName, Scenario][]) {
  test(`if interrupted at any call: ${name}`, async () => {
    const calls = await callsOf(scenario);
    expect(calls.length).toBeGreaterThan(0);
    for (const [index, label] of calls.entries()) {
      for (const moment of ['before', 'after'] as const) {
        await interrupt(scenario, index + 1, moment).catch((cause: unknown) => {
          throw new Error(`interrupted ${moment} call ${index + 1}, ${label}:\n${String(cause)}`, {
            cause,
          });
        });
      }
    }
  });
}
