import type { Metrics } from '../../packages/base/src/observability/metrics.ts';
import { reconcileDuration } from '../../packages/base/src/work/controller-metrics.ts';
import { readyCondition } from '../../packages/causeway/src/services/service-status.ts';
import { requestDuration } from '../../packages/kubernetes/src/client/kube-metrics.ts';
import type { Event, Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { GatewayWorld } from './gateway/gateway-world.ts';
import { OctaviaWorld } from './octavia/octavia-world.ts';
import { PoolWorld } from './pool/pool-world.ts';
import type { SimulatedWorld } from './world.ts';

/** Cost of the creation of one Service for the controller. */
export interface CreationCost {
  readonly reconciles: number;
  /** Requests that change the Service or its status, including rejected ones. */
  readonly writes: number;
  /** Writes that the API rejects because the Service changed since the controller read it. */
  readonly conflicts: number;
  /** The reasons of the Events about the Service, sorted by name, with their counts. */
  readonly events: readonly string[];
}

type Scenario = (seed: number, count: CountingMetrics) => Promise<CreationCost>;

/** The ways in which a Service gets an address. */
export const creations = {
  gateway: async (seed, metrics) => {
    const world = await GatewayWorld.create(seed, { metrics });
    world.startController();
    return costIn(world, metrics, () => world.createService('web'));
  },
  octavia: async (seed, metrics) => {
    const world = new OctaviaWorld(seed, { metrics });
    await world.setEndpoints('web', ['10.10.1.1']);
    world.startController();
    return costIn(world, metrics, () => world.createService('web'));
  },
  'pool, announced by another program': async (seed, metrics) => {
    const world = await PoolWorld.create(seed, '192.0.2.0/29', 'cilium', { metrics });
    world.startController();
    return costIn(world, metrics, () => world.createService('web'));
  },
  'pool, announced by the status': async (seed, metrics) => {
    const world = await PoolWorld.create(seed, '192.0.2.0/29', 'cilium', { metrics });
    world.startController();
    return costIn(world, metrics, () => world.createService('web', 'plain'));
  },
} as const satisfies Record<string, Scenario>;

export type Creation = keyof typeof creations;

export function creationCost(creation: Creation, seed: number): Promise<CreationCost> {
  return creations[creation](seed, new CountingMetrics());
}

/** Long enough for every consequence of the creation; shorter than the periods of all regular checks. */
const afterwardsMs = 8_000;

async function costIn(
  world: SimulatedWorld,
  metrics: CountingMetrics,
  create: () => Promise<void>,
): Promise<CreationCost> {
  await world.simulation.runFor(afterwardsMs);
  metrics.reset();
  await create();
  const find = (): Service | undefined =>
    world.kubernetes.cluster.store.get('services', 'default', 'web');
  const isServed = () =>
    find()?.status?.conditions?.some(
      ({ type, status }) => type === readyCondition && status === 'True',
    ) === true;
  await world.simulation.runUntil(isServed, { maxSteps: 20_000 });
  await world.simulation.runFor(afterwardsMs);
  const { reconciles, writes, conflicts } = metrics;
  const all: readonly Event[] = world.kubernetes.cluster.store.list('events');
  const events = all
    .filter(({ involvedObject }) => involvedObject?.name === 'web')
    .map(({ reason, count }) => `${count} ${reason}`);
  return { reconciles, writes, conflicts, events: events.toSorted() };
}

/** Counts the reconciles of Services, and the writes to them. */
class CountingMetrics implements Metrics {
  reconciles = 0;
  writes = 0;
  conflicts = 0;

  reset(): void {
    this.reconciles = 0;
    this.writes = 0;
    this.conflicts = 0;
  }

  counter = () => ({ add() {} });
  gauge = () => ({ set() {}, remove() {} });
  histogram: Metrics['histogram'] = ({ name }) => ({
    observe: (labels: Readonly<Record<string, string>>) => this.#observe(name, labels),
  });

  #observe(name: string, labels: Readonly<Record<string, string>>): void {
    if (name === reconcileDuration.name && labels['controller'] === 'services') {
      this.reconciles += 1;
    }
    if (name !== requestDuration.name || labels['resource'] !== 'services') return;
    if (labels['verb'] !== 'patch') return;
    this.writes += 1;
    if (labels['status'] === '409') this.conflicts += 1;
  }
}
