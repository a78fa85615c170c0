import { cleanupFinalizer } from '../../../packages/causeway/src/services/plan.ts';
import { legacyManagedAnnotation } from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import {
  fenceChange,
  writeGatewayConfigMap,
} from '../../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import { clusterId } from './invariants.ts';
import type { GatewayWorld } from './gateway-world.ts';
import { withServices, type Scenario } from './scenario.ts';

const idle = () => Promise.resolve();
const ourTag = `causeway.dev/cluster=${clusterId}`;

function gateway(world: GatewayWorld, name: string) {
  const agent = world.agents.get(name);
  if (agent === undefined) throw new Error(`there is no gateway ${name}`);
  return agent;
}

async function inherited(world: GatewayWorld) {
  await world.createInherited('old', 80);
  return world.startController();
}

const inheritedPort = (world: GatewayWorld) =>
  world.openstack.neutron.ports.all().find(({ name }) => name === 'lbaas-old');

/** Nothing is written to Neutron for a Service without Causeway's finalizer. */
function markedTooEarly(world: GatewayWorld): readonly string[] {
  const isMarked = inheritedPort(world)?.tags.includes(ourTag) === true;
  const isHeld = world.service('old')?.metadata?.finalizers?.includes(cleanupFinalizer) === true;
  return isMarked && !isHeld ? ['the port was marked before the finalizer was written'] : [];
}

function askForFence(world: GatewayWorld, isWanted: boolean): Promise<void> {
  const fence = { reason: 'no power', since: '2026-01-01T00:00:00Z' };
  const change = fenceChange('g2', isWanted ? fence : undefined);
  const { signal } = new AbortController();
  return world.complete(writeGatewayConfigMap(world.user, 'kube-system', change, signal));
}

/** Operations on the surroundings of the Services: network, gateways, other controllers. */
export const scenarios = {
  'one address is deleted and another created, with a pair for each on every gateway': {
    world: { pairWriter: 'single' },
    prepare: (world) => withServices(world, ['mail', [25]], ['web', [25]]),
    operate: async (world) => {
      await world.deleteService('web');
      await world.createService('late', { ports: [25] });
    },
    touches: ['web', 'late'],
  },
  'a gateway does not answer, is fenced, and comes back': {
    world: { pairWriter: 'network', fenceAfterMs: 5_000, restMs: 1_000 },
    prepare: async (world) => {
      const process = await withServices(world, ['mail', [25]], ['web', [25]]);
      gateway(world, 'g1').role = 'active';
      gateway(world, 'g1').sendStatus();
      gateway(world, 'g2').mode = 'fails';
      return process;
    },
    operate: async (world) => {
      await world.deleteService('web');
      await world.simulation.runFor(20_000);
      gateway(world, 'g2').mode = 'works';
    },
    touches: ['web'],
  },
  'an operator fences a gateway and unfences it': {
    world: { pairWriter: 'network', restMs: 1_000 },
    prepare: (world) => withServices(world, ['mail', [25]]),
    operate: async (world) => {
      await askForFence(world, true);
      await world.simulation.runFor(5_000);
      await askForFence(world, false);
    },
    touches: [],
  },
  'a gateway reports an unhealthy backend, and all gateways exclude it': {
    prepare: async (world) => {
      const process = await withServices(world, ['mail', [25]]);
      gateway(world, 'g1').role = 'active';
      gateway(world, 'g1').sendStatus();
      return process;
    },
    operate: (world) => {
      gateway(world, 'g1').sees = ['10.99.0.1'];
      gateway(world, 'g1').sendStatus();
      return Promise.resolve();
    },
    isDone: (world) =>
      [...world.agents]
        .filter(([, { handed }]) => handed?.join() !== '10.99.0.1')
        .map(([name]) => `${name} does not exclude the unhealthy backend`),
    touches: [],
  },
  'the leading controller is killed during the operation, and another one waits': {
    prepare: async (world) => {
      const { process } = world.startCandidate();
      await world.createService('mail', { ports: [25] });
      await world.settle(() => []);
      world.startCandidate();
      await world.simulation.runFor(1_000);
      return process;
    },
    operate: (world) => world.createService('web', { ports: [25] }),
    touches: ['web'],
    hasStandby: true,
  },
  'a Service of ch-k8s-lbaas is adopted, and can be handed back': {
    world: { keepWayBack: true },
    prepare: inherited,
    operate: idle,
    isStart: true,
    always: markedTooEarly,
    isDone: (world) => {
      const tags = inheritedPort(world)?.tags ?? [];
      const isBoth = [ourTag, legacyManagedAnnotation].every((tag) => tags.includes(tag));
      return isBoth ? [] : ['the port does not carry both marks'];
    },
    touches: ['old'],
    stay: ['old'],
  },
  'a Service of ch-k8s-lbaas is adopted permanently': {
    prepare: inherited,
    operate: idle,
    isStart: true,
    always: markedTooEarly,
    isDone: (world) => {
      const { tags = [], description = '' } = inheritedPort(world) ?? {};
      const isOurs = tags.includes(ourTag) && !tags.includes(legacyManagedAnnotation);
      return isOurs && description.includes('Causeway')
        ? []
        : ['the port has no mark of Causeway yet'];
    },
    touches: ['old'],
    stay: ['old'],
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;
