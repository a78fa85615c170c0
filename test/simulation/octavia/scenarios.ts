import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { kuryrLoadBalancers } from '../../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { recordAnnotation } from '../../../packages/causeway/src/services/record.ts';
import { theirs } from './invariants.ts';
import { portsOf, type OctaviaWorld } from './octavia-world.ts';

/** An operation that may be interrupted anywhere. */
export interface Scenario {
  /** Everything before the operation. Returns the process that will be interrupted. */
  prepare(world: OctaviaWorld): Promise<SimulatedProcess>;
  /** Starts the operation. */
  operate(world: OctaviaWorld): Promise<void>;
  /** The operation is a controller's start, from its first call. */
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

/** The controller is stopped, and the changes happen without it. */
async function restarted(
  world: OctaviaWorld,
  change: () => Promise<void> = () => Promise.resolve(),
): Promise<SimulatedProcess> {
  (await withWeb(world)).kill();
  await change();
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

/** Kuryr's objects have Kuryr's names, and no marks of Causeway. */
async function leaveAsKuryr(world: OctaviaWorld): Promise<void> {
  const { octavia, neutron } = world.openstack;
  for (const row of octavia.loadBalancers.all()) {
    octavia.loadBalancers.update(row, { description: '', tags: [] });
  }
  for (const row of neutron.floatingIps.all()) {
    neutron.floatingIps.update(row, { description: '' });
  }
  const web = { namespace: 'default', name: 'web' };
  const annotations = { [recordAnnotation]: null };
  await world.complete(world.user.patchMerge(services, web, { metadata: { annotations } }));
  const status = { version: null, conditions: null };
  await world.complete(
    world.user.patchMerge(kuryrLoadBalancers, web, { status }, { subresource: 'status' }),
  );
}

/** A foreign load balancer. */
async function makeTheirs(world: OctaviaWorld): Promise<string> {
  const [subnet] = world.openstack.neutron.subnets
    .all()
    .filter(({ name }) => name === 'private-v4');
  return world.byHand(async ({ balancing, signal }) => {
    const spec = { name: theirs, vipSubnetId: subnet?.id ?? '' };
    const { id } = await balancing.createLoadBalancer(spec, { signal, once: 'name' });
    await balancing.waiter.active(id, { signal });
    return id;
  });
}

const byId = 'loadbalancer.openstack.org/load-balancer-id';

/** `mail` has listeners on a foreign load balancer. */
async function withShared(world: OctaviaWorld): Promise<SimulatedProcess> {
  const process = await withWeb(world);
  const id = await makeTheirs(world);
  await world.setEndpoints('mail', ['10.10.1.3']);
  await world.createService('mail', { ports: [81], annotations: { [byId]: id } });
  await world.settle();
  await world.simulation.runFor(1_000);
  return process;
}

async function withSecurityGroup(world: OctaviaWorld): Promise<SimulatedProcess> {
  const { id } = await world.byHand(({ neutron, signal }) =>
    neutron.securityGroups.create({ name: 'pods' }, { signal }),
  );
  world.settings = { podSecurityGroup: id };
  return withWeb(world);
}

async function withNodes(world: OctaviaWorld): Promise<SimulatedProcess> {
  world.settings = { members: 'NodePort' };
  await world.setNode(1, true);
  await world.setNode(2, true);
  return withWeb(world);
}

function breakBalancer(world: OctaviaWorld): Promise<void> {
  const { loadBalancers } = world.openstack.octavia;
  for (const row of loadBalancers.all())
    loadBalancers.update(row, { provisioning_status: 'ERROR' });
  return idle();
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
  'endpoints are added': {
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
  'the type changes, and the load balancer is deleted': {
    prepare: withWeb,
    operate: (world) => world.patchService('web', { type: 'ClusterIP' }),
  },
  'a Service is deleted': {
    prepare: withWeb,
    operate: (world) => world.deleteService('web'),
  },
  'the status is emptied': { prepare: withWeb, operate: emptyStatus, stays: true },
  'the load balancer is lost': { prepare: withWeb, operate: loseBalancer },
  'a controller starts and nothing is to do': {
    prepare: restarted,
    operate: idle,
    isStart: true,
    stays: true,
  },
  'a controller starts after the status was emptied': {
    prepare: (world) => restarted(world, () => emptyStatus(world)),
    operate: idle,
    isStart: true,
    stays: true,
  },
  'a controller starts after a Service was deleted': {
    prepare: (world) => restarted(world, () => world.deleteService('web')),
    operate: idle,
    isStart: true,
  },
  "a controller starts on Kuryr's objects": {
    prepare: (world) => restarted(world, () => leaveAsKuryr(world)),
    operate: idle,
    isStart: true,
    stays: true,
  },
  'a controller starts with another provider': {
    prepare: (world) =>
      restarted(world, () => {
        world.settings = { provider: 'ovn' };
        return idle();
      }),
    operate: idle,
    isStart: true,
  },
  'the load balancer ends in ERROR': { prepare: withWeb, operate: breakBalancer },
  'a Service gets listeners on a foreign load balancer': {
    prepare: async (world) => {
      const process = await withWeb(world);
      await makeTheirs(world);
      await world.setEndpoints('mail', ['10.10.1.3']);
      return process;
    },
    operate: (world) => {
      const { loadBalancers } = world.openstack.octavia;
      const row = loadBalancers.all().find(({ name }) => name === theirs);
      return world.createService('mail', { ports: [81], annotations: { [byId]: row?.id ?? '' } });
    },
    stays: true,
  },
  'a Service leaves the foreign load balancer': {
    prepare: withShared,
    operate: (world) => world.deleteService('mail'),
    stays: true,
  },
  "the members' security group follows the ports": {
    prepare: withSecurityGroup,
    operate: (world) => world.patchService('web', { ports: portsOf([81, 82]) }),
    stays: true,
  },
  'nodes are added and removed': {
    prepare: withNodes,
    operate: async (world) => {
      await world.setNode(3, true);
      await world.setNode(1, false);
    },
    stays: true,
  },
  'traffic is to stay on nodes with endpoints': {
    prepare: withNodes,
    operate: (world) => world.patchService('web', { externalTrafficPolicy: 'Local' }),
    stays: true,
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;
