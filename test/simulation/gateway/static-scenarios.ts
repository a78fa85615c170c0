import {
  fenceChange,
  writeGatewayConfigMap,
} from '../../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import type { GatewayWorld } from './gateway-world.ts';
import { withServices, type Scenario } from './scenario.ts';
import { scenarios as neutronScenarios } from './scenarios.ts';

const { 'a port and its floating IP are lost': _, ...operations } = neutronScenarios;

/** An operator confirms that the gateway is off, or allows it again. */
function promise(world: GatewayWorld, isOff: boolean): Promise<void> {
  const fence = { reason: 'no power', since: '2026-01-01T00:00:00Z' };
  const change = fenceChange('g2', isOff ? fence : undefined);
  const { signal } = new AbortController();
  return world.complete(writeGatewayConfigMap(world.user, 'kube-system', change, signal));
}

/** The gateway is off, or comes back with an empty state directory. */
function power(world: GatewayWorld, isOn: boolean): void {
  const agent = world.agents.get('g2');
  if (agent === undefined) throw new Error('there is no second gateway');
  agent.mode = isOn ? 'works' : 'fails';
  agent.holds.clear();
  agent.generation = 0;
  agent.sendStatus();
}

const onList = { isStatic: true } as const;

function withList<Name extends string>(all: Record<Name, Scenario>): Record<Name, Scenario> {
  const scenarios = { ...all };
  for (const name of Object.keys(all) as Name[]) scenarios[name] = { ...all[name], world: onList };
  return scenarios;
}

/** The operations with addresses of a list instead of Neutron's, and their differences. */
export const scenarios = {
  ...withList(operations),
  'a gateway is off permanently, and an operator confirms it': {
    world: { ...onList, restMs: 1_000 },
    prepare: async (world) => {
      const process = await withServices(world, ['mail', [25]], ['web', [25]]);
      power(world, false);
      return process;
    },
    operate: async (world) => {
      await world.deleteService('web');
      await promise(world, true);
      await world.simulation.runFor(10_000);
      await promise(world, false);
      power(world, true);
    },
    touches: ['web'],
  },
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;
