import { expect, test } from 'vitest';
import { familyOf } from '../../../packages/base/src/address/address.ts';
import type { ServiceSpec } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { readyCondition } from '../../../packages/causeway/src/services/service-status.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { PoolWorld } from './pool-world.ts';
import type { SimulatedKind } from './simulated-announcer.ts';

interface Scenario {
  readonly name: string;
  /** The announcer of the cluster; default Cilium. */
  readonly announcer?: SimulatedKind;
  /** Everything before the interruption; returns the controller. */
  prepare(world: PoolWorld): Promise<SimulatedProcess>;
  operate(world: PoolWorld): Promise<void>;
  isDone(world: PoolWorld): boolean;
}

const seed = 11;
const pool = ['192.0.2.1-192.0.2.4', '2001:db8::1-2001:db8::4'];
const bothFamilies: ServiceSpec = {
  ipFamilyPolicy: 'RequireDualStack',
  ipFamilies: ['IPv4', 'IPv6'],
};

const serves = (world: PoolWorld, name: string): boolean => {
  const service = world.services().find(({ metadata }) => metadata?.name === name);
  const ready = service?.status?.conditions?.find(({ type }) => type === readyCondition);
  const address = world.addressOf(name);
  const uid = service?.metadata?.uid ?? '';
  const isHeld = world.ipam
    .addresses()
    .some((entry) => entry.address === address && entry.owners.includes(uid));
  return ready?.status === 'True' && service?.spec?.type === 'LoadBalancer' && isHeld;
};

/** The families of the announced and shown addresses. */
const announcedAre = (world: PoolWorld, families: readonly number[]): boolean => {
  const announced = [...world.announcer.announcing.values()].flatMap(({ addresses }) => addresses);
  const shown = world.addressesOf('web');
  return announced.join() === shown.join() && shown.map(familyOf).join() === families.join();
};

const heldAre = (world: PoolWorld, families: readonly number[]): boolean => {
  const held = world.ipam.addresses().filter(({ owners }) => owners.length > 0);
  return held.map(({ address }) => familyOf(address)).join() === families.join();
};

/** Nothing is left: no Service, no reservation except the control plane's, nothing announced. */
const isEmpty = (world: PoolWorld): boolean =>
  world.services().every(({ spec }) => spec?.type !== 'LoadBalancer') &&
  world.services().every(({ metadata }) => metadata?.name === 'kubernetes') &&
  world.ipam.addresses().every(({ owners }) => owners.length === 0) &&
  world.announcer.announcing.size === 0;

async function started(world: PoolWorld): Promise<SimulatedProcess> {
  const process = world.startController();
  await world.until(
    () => process.callLabels.filter((label) => label.startsWith('ipam heartbeat')).length >= 2,
  );
  return process;
}

async function serving(
  world: PoolWorld,
  announcer: SimulatedKind | 'plain',
  spec: ServiceSpec = {},
) {
  const process = await started(world);
  await world.createService('web', announcer, spec);
  await world.until(() => serves(world, 'web'));
  return process;
}

const scenarios: readonly Scenario[] = [
  ...(['cilium', 'kube-vip', 'plain'] as const).flatMap((announcer): Scenario[] => [
    {
      name: `a Service is created, announced by ${announcer}`,
      announcer: announcer === 'plain' ? 'cilium' : announcer,
      prepare: started,
      operate: (world) => world.createService('web', announcer),
      isDone: (world) => serves(world, 'web'),
    },
    {
      name: `a Service is deleted, announced by ${announcer}`,
      announcer: announcer === 'plain' ? 'cilium' : announcer,
      prepare: (world) => serving(world, announcer),
      operate: (world) => world.deleteService('web'),
      isDone: isEmpty,
    },
  ]),
  ...(['cilium', 'kube-vip'] as const).flatMap((announcer): Scenario[] => [
    {
      name: `a Service gives a family up, announced by ${announcer}`,
      announcer,
      prepare: (world) => serving(world, announcer, bothFamilies),
      operate: (world) =>
        world.changeService('web', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] }),
      isDone: (world) => serves(world, 'web') && announcedAre(world, [4]) && heldAre(world, [4]),
    },
    {
      name: `a Service gets a second family, announced by ${announcer}`,
      announcer,
      prepare: (world) => serving(world, announcer),
      operate: (world) => world.changeService('web', bothFamilies),
      isDone: (world) => serves(world, 'web') && announcedAre(world, [4, 6]),
    },
  ]),
  {
    name: 'a Service is created, and deleted before it is complete',
    prepare: started,
    operate: async (world) => {
      await world.createService('web');
      await world.until(() => world.ipam.addresses().length > 0);
      await world.deleteService('web');
    },
    isDone: isEmpty,
  },
  {
    name: 'a Service is deleted while the ledger is unreachable',
    prepare: (world) => serving(world, 'cilium'),
    operate: async (world) => {
      world.ipam.isCutOff = true;
      await world.deleteService('web');
      await world.until(() => world.services().every(({ metadata }) => metadata?.name !== 'web'));
      world.ipam.isCutOff = false;
    },
    isDone: isEmpty,
  },
  {
    name: 'a Service of kube-vip is deleted while the ledger is unreachable',
    announcer: 'kube-vip',
    prepare: (world) => serving(world, 'kube-vip'),
    operate: async (world) => {
      world.ipam.isCutOff = true;
      await world.deleteService('web');
      await world.until(() => world.services().every(({ metadata }) => metadata?.name !== 'web'));
      world.ipam.isCutOff = false;
    },
    isDone: isEmpty,
  },
  {
    name: 'the cluster is disconnected for longer than it promised, and reconnects',
    prepare: (world) => serving(world, 'cilium'),
    operate: async (world) => {
      world.ipam.isCutOff = true;
      await world.until(() => world.announcer.announcing.size === 0);
      world.ipam.isCutOff = false;
    },
    isDone: (world) => serves(world, 'web') && world.announcer.announcing.size === 1,
  },
  {
    name: 'the cluster is reclaimed and requests another address',
    prepare: (world) => serving(world, 'cilium'),
    operate: (world) => world.reclaim(),
    isDone: (world) => serves(world, 'web') && world.announcer.announcing.size === 1,
  },
];

/** Runs the scenario; the controller is killed at one of its calls, and another one takes over. */
async function run(
  scenario: Scenario,
  cut?: { readonly call: number; readonly moment: 'before' | 'after' },
): Promise<readonly string[]> {
  const world = await PoolWorld.create(seed, pool, scenario.announcer ?? 'cilium');
  const process = await scenario.prepare(world);
  const before = process.calls;
  if (cut !== undefined) process.killAt(before + cut.call, cut.moment);
  let next: SimulatedProcess | undefined;
  world.onStep = () => {
    if (process.isKilled) next ??= world.startController();
  };
  await scenario.operate(world);
  await world.until(() => scenario.isDone(world) && process.isKilled === (cut !== undefined));
  await world.simulation.runFor(1_000);
  await world.until(() => scenario.isDone(world));
  return process.callLabels.slice(before);
}

for (const scenario of scenarios) {
  test(`interrupted before and after each outside call: ${scenario.name}`, async () => {
    const calls = await run(scenario);
    expect(calls.length).toBeGreaterThan(2);
    for (const [index, label] of calls.entries()) {
      for (const moment of ['before', 'after'] as const) {
        await run(scenario, { call: index + 1, moment }).catch((cause: unknown) => {
          const what = `interrupted ${moment} call ${index + 1}, ${label}`;
          throw new Error(`${what}:\n${String(cause)}`, { cause });
        });
      }
    }
  });
}
