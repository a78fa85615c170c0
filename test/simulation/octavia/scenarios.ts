import type { SimulatedProcess } from '../../../src/runtime/simulation.ts';
import { kuryrLoadBalancers } from '../../../src/loadbalancer/octavia/kuryr-load-balancer.ts';
import { portsOf, type OctaviaWorld } from './octavia-world.ts';

/** An operation that may be cut off anywhere. */
export interface Scenario {
  /** Everything before the operation. Answers with the process that will be cut off. */
  prepare(world: OctaviaWorld): Promise<SimulatedProcess>;
  /** What begins the operation. */
  operate(world: OctaviaWorld): Promise<void>;
  /** The operation is a controller's start, from its very first call. */
  readonly isStart?: boolean;
  /** `web` keeps its load balancer and its address. */
  readonly stays?: boolean;
}

async function withWeb(world: OctaviaWorld): Promise<SimulatedProcess> {
  const process = world.startController();
  await world.createService('web');
  await world.setEndpoints('web', ['10.10.1.1', '10.10.1.2']);
  await world.settle();
  await world.simulation.runFor(1_000);
  return process;
}

/** The controller is gone; what happens then, happens while nobody looks. */
async function restarted(
  world: OctaviaWorld,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<SimulatedProcess> {
  (await withWeb(world)).kill();
  await meanwhile();
  return world.startController();
}

const idle = () => Promise.resolve();

async function emptyStatus(world: OctaviaWorld): Promise<void> {
  const [klb] = world.klbs();
  const status = Object.fromEntries(Object.keys(klb?.status ?? {}).map((key) => [key, null]));
  const name = { namespace: 'default', name: 'web' };
  await world.complete(
    world.user.patchMerge(kuryrLoadBalancers, name, { status }, { subresource: 'status' }),
  );
}

async function loseBalancer(world: OctaviaWorld): Promise<void> {
  const [row] = world.openstack.octavia.loadBalancers.all();
  await world.byHand(({ balancing, signal }) =>
    balancing.deleteLoadBalancer(row?.id ?? '', { signal, cascade: true }),
  );
}

export const scenarios = {
  'a Service gets its load balancer': {
    prepare: async (world) => {
      const process = await withWeb(world);
      await world.setEndpoints('mail', ['10.10.1.3']);
      return process;
    },
    operate: (world) => world.createService('mail', { ports: [80, 81] }),
    stays: true,
  },
  'endpoints come': {
    prepare: async (world) => {
      const process = await withWeb(world);
      await world.createService('mail');
      return process;
    },
    operate: (world) => world.setEndpoints('mail', ['10.10.1.3']),
    stays: true,
  },
  'members change': {
    prepare: withWeb,
    operate: (world) => world.setEndpoints('web', ['10.10.1.2', '10.10.1.4']),
    stays: true,
  },
  'ports change': {
    prepare: withWeb,
    operate: (world) => world.patchService('web', { ports: portsOf([81, 82]) }),
    stays: true,
  },
  'the type changes, and the load balancer goes': {
    prepare: withWeb,
    operate: (world) => world.patchService('web', { type: 'ClusterIP' }),
  },
  'a Service is deleted': {
    prepare: withWeb,
    operate: (world) => world.deleteService('web'),
  },
  'the status is emptied': { prepare: withWeb, operate: emptyStatus, stays: true },
  'the load balancer is lost': { prepare: withWeb, operate: loseBalancer },
  'a controller starts on what is right': {
    prepare: restarted,
    operate: idle,
    isStart: true,
    stays: true,
  },
  'a controller starts, and the status was emptied meanwhile': {
    prepare: (world) => restarted(world, () => emptyStatus(world)),
    operate: idle,
    isStart: true,
    stays: true,
  },
  'a controller starts, and a Service was deleted meanwhile': {
    prepare: (world) => restarted(world, () => world.deleteService('web')),
    operate: idle,
    isStart: true,
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;
