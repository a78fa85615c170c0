import { afterAll, afterEach, beforeAll } from 'vitest';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import type { CallOptions } from '../../../packages/openstack/src/call.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import type { LoadBalancing } from '../../../packages/openstack/src/load-balancing/contract.ts';
import { whenUnlocked } from '../../../packages/openstack/src/load-balancing/lock.ts';
import { openLoadBalancing } from '../../../packages/openstack/src/load-balancing/open.ts';
import type { LoadBalancerWaiter } from '../../../packages/openstack/src/load-balancing/waiter.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { type FaultProxy, startFaultProxy } from '../../openstack/fault-proxy.ts';
import { type TestCloud, uniqueName } from './clouds.ts';

export const call = { signal: new AbortController().signal };

/** Clients for writes, with proxies that can cut their requests. */
export interface Stage {
  readonly neutron: Neutron;
  /** Neutron for operations of administrators. */
  readonly administrator: Neutron;
  readonly projectId: string;
  readonly balancing: LoadBalancing;
  readonly waiter: LoadBalancerWaiter;
  readonly network: FaultProxy;
  readonly loadBalancer: FaultProxy;
  readonly networkId: string;
  readonly subnetId: string;
  readonly externalId: string;
  readonly balancerId: string;
  /** A load balancer that is stuck fails its test by name, long before the test's own timeout. */
  readonly patience: CallOptions;
  close(): Promise<void>;
}

/**
 * The stage of a suite. A failed test may have left its load balancer stuck: the next test gets a new one.
 */
export function useStage(cloud: () => TestCloud): () => Stage {
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = await setStage(cloud());
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    await stage?.close();
    stage = await setStage(cloud());
  });
  afterAll(async () => {
    await stage?.close();
  });
  return () => {
    if (stage === undefined) throw new Error('the stage is not set');
    return stage;
  };
}

async function setStage(cloud: TestCloud): Promise<Stage> {
  const { catalog, projectId = '' } = await cloud.open('demo').session().authenticate(call);
  const urlOf = (type: string) =>
    catalog.find((entry) => entry.type === type && entry.interface === 'public')?.url;
  const network = await startFaultProxy(urlOf('network') ?? '');
  const octaviaUrl = urlOf('load-balancer');
  // LBaaS v2 has Neutron's address.
  const loadBalancer = octaviaUrl === undefined ? network : await startFaultProxy(octaviaUrl);
  const overrides = {
    network_endpoint_override: network.url,
    load_balancer_endpoint_override: octaviaUrl === undefined ? undefined : loadBalancer.url,
  };
  const session = cloud.open('demo', overrides, cloud.pauses).session();
  const neutron = new Neutron(session);
  const administrator = new Neutron(cloud.open('admin', overrides, cloud.pauses).session());
  const balancing = await openLoadBalancing(session, call);
  const { waiter } = balancing;
  const [subnet] = await collect(neutron.subnets.list({ name: 'private-v4' }, call));
  const [external] = await collect(neutron.networks.list({ name: 'public' }, call));
  if (subnet === undefined || external === undefined) throw new Error('the cloud is not seeded');
  const { id: balancerId } = await balancing.createLoadBalancer(
    { name: uniqueName('stage'), vipSubnetId: subnet.id },
    call,
  );
  // With short pauses, deadlines are short too.
  const patience = { ...call, deadlineMs: cloud.pauses.deadlineMs ?? 60_000 };
  await waiter.active(balancerId, patience);
  return {
    neutron,
    administrator,
    projectId,
    balancing,
    waiter,
    network,
    loadBalancer,
    networkId: subnet.networkId,
    subnetId: subnet.id,
    externalId: external.id,
    balancerId,
    patience,
    async close() {
      await network.close();
      await loadBalancer.close();
    },
  };
}

/** Writes below the stage's load balancer when it is not locked, and waits until it is unlocked again. */
export async function written<T>(stage: Stage, write: () => Promise<T>): Promise<T> {
  const result = await whenUnlocked(stage.waiter, stage.balancerId, write, stage.patience);
  await stage.waiter.active(stage.balancerId, stage.patience);
  return result;
}

const ports = new Map<string, number>();

/** The same port for the same name, another for every other: listeners share their load balancer's ports. */
export function portFor(name: string) {
  const number = ports.get(name) ?? 1_000 + ports.size;
  ports.set(name, number);
  return parsePort(number);
}

export async function newListener(stage: Stage, name: string): Promise<string> {
  const spec = { name, loadBalancerId: stage.balancerId, protocol: 'TCP' } as const;
  const made = await written(stage, () =>
    stage.balancing.createListener({ ...spec, port: portFor(name) }, call),
  );
  return made.id;
}

export async function newPool(stage: Stage, name: string): Promise<string> {
  const parent = { loadBalancerId: stage.balancerId };
  const spec = { name, parent, protocol: 'TCP', algorithm: 'ROUND_ROBIN' } as const;
  return (await written(stage, () => stage.balancing.createPool(spec, call))).id;
}
