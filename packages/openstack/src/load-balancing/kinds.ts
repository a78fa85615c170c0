import type { Identity, Kind } from '../kind.ts';
import { item, route } from '../route.ts';
import type { ChildFilter, HealthMonitorFilter, LoadBalancerFilter } from './contract.ts';
import {
  parseHealthMonitor,
  parseListener,
  parseLoadBalancer,
  parseMember,
  parsePool,
} from './parsers.ts';
import type { HealthMonitor, Listener, LoadBalancer, Member, Pool } from './resources.ts';
import type * as spec from './specs.ts';
import * as tables from './tables.ts';

/** The older service calls a project `tenant_id`. */
export type ProjectKey = 'project_id' | 'tenant_id';

/** Mitaka does not filter children by parent; the caller does. */
const byParent = (project: ProjectKey, key: string) => (project === 'tenant_id' ? () => ({}) : key);

const tags = (wanted: readonly string[]) => ({ tags: wanted.join(',') });

export function loadBalancerKind(
  project: ProjectKey,
): Kind<LoadBalancer, spec.LoadBalancerSpec, spec.LoadBalancerChange, LoadBalancerFilter> {
  return {
    route: route`/lbaas/loadbalancers`,
    singular: 'loadbalancer',
    plural: 'loadbalancers',
    parse: parseLoadBalancer,
    spec: tables.loadBalancerSpec(project),
    change: tables.loadBalancerChange,
    filter: {
      name: 'name',
      projectId: project,
      vipAddress: 'vip_address',
      vipPortId: 'vip_port_id',
      provisioningStatus: 'provisioning_status',
      tags,
    },
    identity: (wanted, by) => {
      const value = by === undefined ? undefined : wanted[by];
      if (by === undefined || value === undefined || value === '') return undefined;
      return {
        filter: {
          ...(by === 'name' ? { name: value } : {}),
          ...(wanted.projectId === undefined ? {} : { projectId: wanted.projectId }),
        },
        isSame: (candidate) =>
          candidate[by] === value &&
          candidate.provisioningStatus !== 'PENDING_DELETE' &&
          candidate.provisioningStatus !== 'DELETED',
      };
    },
  };
}

export function listenerKind(
  project: ProjectKey,
): Kind<Listener, spec.ListenerSpec, spec.ListenerChange, ChildFilter> {
  return {
    route: route`/lbaas/listeners`,
    singular: 'listener',
    plural: 'listeners',
    parse: parseListener,
    spec: tables.listenerSpec,
    change: tables.listenerChange,
    filter: {
      name: 'name',
      projectId: project,
      loadBalancerId: byParent(project, 'loadbalancer_id'),
      tags,
    },
    // A port of a load balancer has one listener per protocol; the name excludes a listener of another owner.
    identity: (wanted) => ({
      filter: { loadBalancerId: wanted.loadBalancerId },
      isSame: (candidate) =>
        candidate.loadBalancerId === wanted.loadBalancerId &&
        candidate.port === wanted.port &&
        candidate.protocol === wanted.protocol &&
        candidate.name === wanted.name,
    }),
  };
}

export function poolKind(
  project: ProjectKey,
): Kind<Pool, spec.PoolSpec, spec.PoolChange, ChildFilter> {
  return {
    route: route`/lbaas/pools`,
    singular: 'pool',
    plural: 'pools',
    parse: parsePool,
    spec: tables.poolSpec,
    change: tables.poolChange,
    filter: {
      name: 'name',
      projectId: project,
      loadBalancerId: byParent(project, 'loadbalancer_id'),
      tags,
    },
    identity: (wanted, by) => poolIdentity(wanted, by),
  };
}

/** A listener has one default pool. Other pools are distinguished by a unique name only. */
function poolIdentity(
  { parent, ...wanted }: spec.PoolSpec,
  by: 'name' | 'description' | undefined,
): Identity<Pool, ChildFilter> {
  if ('listenerId' in parent) {
    return {
      filter: { name: wanted.name },
      isSame: (candidate) => candidate.listenerIds.includes(parent.listenerId),
    };
  }
  if (by === undefined) return undefined;
  return {
    filter: { loadBalancerId: parent.loadBalancerId },
    isSame: (candidate) =>
      candidate.loadBalancerId === parent.loadBalancerId && candidate[by] === wanted[by],
  };
}

export function memberKind(
  poolId: string,
): Kind<Member, spec.MemberSpec, spec.MemberChange, Record<string, never>> {
  return {
    route: item(route`/lbaas/pools`, poolId, '/members'),
    singular: 'member',
    plural: 'members',
    parse: parseMember,
    spec: tables.memberSpec,
    change: tables.memberChange,
    filter: {},
    identity: (wanted) => ({
      filter: {},
      isSame: (candidate) => candidate.address === wanted.address && candidate.port === wanted.port,
    }),
  };
}

export function healthMonitorKind(
  project: ProjectKey,
): Kind<HealthMonitor, spec.HealthMonitorSpec, spec.HealthMonitorChange, HealthMonitorFilter> {
  return {
    route: route`/lbaas/healthmonitors`,
    singular: 'healthmonitor',
    plural: 'healthmonitors',
    parse: parseHealthMonitor,
    spec: tables.healthMonitorSpec,
    change: tables.healthMonitorChange,
    filter: { name: 'name', projectId: project, poolId: byParent(project, 'pool_id'), tags },
    identity: (wanted) => ({
      filter: { poolId: wanted.poolId },
      isSame: (candidate) => candidate.poolId === wanted.poolId,
    }),
  };
}
