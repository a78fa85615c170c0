import type { Condition } from '@causeway/kubernetes/objects/object';
import type { Listener, LoadBalancer, Pool } from '@causeway/openstack/load-balancing/resources';
import {
  statusVersion,
  type KlbPublicIp,
  type KlbStatus,
  type KlbStatusBalancer,
  type KlbStatusListener,
  type KuryrLoadBalancer,
} from './kuryr-load-balancer.ts';
import { askedTimeouts } from './listener-timeouts.ts';
import type { ObservedBalancer } from './observed.ts';

export interface Readiness {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The status of a KuryrLoadBalancer: its state in Octavia. It names only this Service's children. */
export function statusOf(
  klb: KuryrLoadBalancer,
  observed: ObservedBalancer | undefined,
  publicIp: KlbPublicIp | undefined,
  ready: Readiness,
  now: string,
): KlbStatus {
  const conditions = withReady(klb, ready, now);
  const address = publicIp === undefined ? {} : { service_pub_ip_info: publicIp };
  if (observed === undefined) return { version: statusVersion, ...address, conditions };
  return { version: statusVersion, ...resourcesOf(klb, observed), ...address, conditions };
}

function resourcesOf(klb: KuryrLoadBalancer, observed: ObservedBalancer): KlbStatus {
  const { balancer } = observed;
  const prefix = `${klb.metadata?.namespace}/${klb.metadata?.name}:`;
  const listeners = observed.listeners.filter(({ name }) => name.startsWith(prefix));
  const pools = observed.pools.filter(({ name }) => name.startsWith(prefix));
  const common = { loadbalancer_id: balancer.id, project_id: balancer.projectId };
  return {
    loadbalancer: statusBalancer(klb, balancer),
    listeners: sorted(listeners).map((listener) => statusListener(klb, listener, common)),
    pools: sorted(pools).map((pool) => ({
      ...common,
      id: pool.id,
      listener_id: listeners.find((it) => it.defaultPoolId === pool.id)?.id ?? '',
      name: pool.name,
      protocol: pool.protocol,
    })),
    ...membersOf(observed, pools),
  };
}

/** An object is limited to 1.5 MB. More members would leave no room for the spec. */
const mostMembers = 2_000;

function membersOf({ balancer, members }: ObservedBalancer, pools: readonly Pool[]): KlbStatus {
  const count = pools.reduce((sum, { id }) => sum + (members.get(id)?.length ?? 0), 0);
  if (count > mostMembers) return { members_left_out: count };
  const rows = sorted(pools).flatMap((pool) =>
    sorted(members.get(pool.id) ?? []).map((member) => ({
      id: member.id,
      ip: member.address,
      name: member.name,
      pool_id: pool.id,
      port: member.port,
      project_id: balancer.projectId,
      subnet_id: member.subnetId ?? balancer.vipSubnetId ?? '',
    })),
  );
  return { members: rows };
}

function statusBalancer(klb: KuryrLoadBalancer, balancer: LoadBalancer): KlbStatusBalancer {
  return {
    id: balancer.id,
    ip: balancer.vipAddress ?? '',
    name: balancer.name,
    port_id: balancer.vipPortId ?? '',
    project_id: balancer.projectId,
    provider: balancer.provider ?? '',
    security_groups: klb.spec?.security_groups_ids ?? [],
    subnet_id: balancer.vipSubnetId ?? '',
    ...(klb.spec?.options?.loadbalancer_id === balancer.id ? { given: true } : {}),
  };
}

/** The requested timeouts. Octavia's defaults are not included. */
function statusListener(
  { spec = {} }: KuryrLoadBalancer,
  { id, name, port, protocol }: Listener,
  common: { readonly loadbalancer_id: string; readonly project_id: string },
): KlbStatusListener {
  return { ...common, id, name, port, protocol, ...askedTimeouts(spec) };
}

function withReady(klb: KuryrLoadBalancer, ready: Readiness, now: string): Condition[] {
  const present = klb.status?.conditions ?? [];
  const old = present.find(({ type }) => type === 'Ready');
  const observedGeneration = klb.metadata?.generation;
  const condition: Condition = {
    type: 'Ready',
    ...ready,
    lastTransitionTime: old?.status === ready.status ? (old.lastTransitionTime ?? now) : now,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return [...present.filter(({ type }) => type !== 'Ready'), condition];
}

function sorted<T extends { readonly name: string; readonly id: string }>(
  objects: readonly T[],
): T[] {
  const key = ({ name, id }: T) => `${name} ${id}`;
  return [...objects].sort((left, right) => (key(left) < key(right) ? -1 : 1));
}
