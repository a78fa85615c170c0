import { parsePort } from '../../../src/domain/port.ts';
import { collect } from '../../../src/openstack/collect.ts';
import type { LoadBalancing } from '../../../src/openstack/load-balancing/contract.ts';
import { whenUnlocked } from '../../../src/openstack/load-balancing/lock.ts';
import { openLoadBalancing } from '../../../src/openstack/load-balancing/open.ts';
import type { LoadBalancerWaiter } from '../../../src/openstack/load-balancing/waiter.ts';
import { Neutron } from '../../../src/openstack/neutron/neutron.ts';
import { type FaultProxy, startFaultProxy } from '../../openstack/fault-proxy.ts';
import { type TestCloud, uniqueName } from './clouds.ts';

const call = { signal: new AbortController().signal };

/** A stage for writes: clients whose requests go through proxies that can cut them. */
export interface Stage {
  readonly neutron: Neutron;
  /** Neutron for what only administrators may do. */
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
  close(): Promise<void>;
}

export async function setStage(cloud: TestCloud): Promise<Stage> {
  const { catalog, projectId = '' } = await cloud.open('demo').session().authenticate(call);
  const urlOf = (type: string) =>
    catalog.find((entry) => entry.type === type && entry.interface === 'public')?.url;
  const network = await startFaultProxy(urlOf('network') ?? '');
  const octaviaUrl = urlOf('load-balancer');
  // LBaaS v2 lives on Neutron's address.
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
  await waiter.active(balancerId, call);
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
    async close() {
      await network.close();
      await loadBalancer.close();
    },
  };
}

/** Writes below the stage's load balancer when it is free for it, and waits until it is free again. */
export async function written<T>(stage: Stage, write: () => Promise<T>): Promise<T> {
  const result = await whenUnlocked(stage.waiter, stage.balancerId, write, call);
  await stage.waiter.active(stage.balancerId, call);
  return result;
}

const ports = new Map<string, number>();

/** The same port for the same name, another for every other: listeners share their load balancer's. */
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
