import type { Clock } from '@causeway/base/time/clock';
import { newUuid } from '../ids.ts';
import { Table, byId } from '../table.ts';
import type {
  HealthMonitorRow,
  ListenerRow,
  LoadBalancerRow,
  MemberRow,
  OctaviaRow,
  PoolRow,
} from './rows.ts';

const project_id = (row: OctaviaRow) => [row.project_id];
const name = (row: OctaviaRow) => [row.name];
const tags = (row: OctaviaRow) => row.tags;
const loadbalancer_id = (row: { loadbalancer_id: string }) => [row.loadbalancer_id];

/** Octavia lists the oldest rows first. Times have whole seconds, so IDs break ties. */
function byAge(left: OctaviaRow, right: OctaviaRow): number {
  if (left.created_at !== right.created_at) return left.created_at < right.created_at ? -1 : 1;
  return byId(left, right);
}

export type OctaviaQuotaName = 'load_balancer' | 'listener' | 'pool' | 'member' | 'health_monitor';

export const octaviaQuotaNames: readonly OctaviaQuotaName[] = [
  'load_balancer',
  'listener',
  'member',
  'pool',
  'health_monitor',
];

export type OctaviaQuotas = Record<OctaviaQuotaName, number>;

export class OctaviaState {
  readonly clock: Clock;
  readonly loadBalancers = new Table<LoadBalancerRow>(
    {
      project_id,
      name,
      tags,
      vip_address: (row) => [row.vip_address],
      vip_port_id: (row) => [row.vip_port_id],
    },
    byAge,
  );
  readonly listeners = new Table<ListenerRow>(
    {
      project_id,
      name,
      tags,
      loadbalancer_id,
      default_pool_id: (row) => (row.default_pool_id === null ? [] : [row.default_pool_id]),
    },
    byAge,
  );
  readonly pools = new Table<PoolRow>({ project_id, name, tags, loadbalancer_id }, byAge);
  readonly members = new Table<MemberRow>(
    { project_id, name, tags, pool_id: (row) => [row.pool_id] },
    byAge,
  );
  readonly healthMonitors = new Table<HealthMonitorRow>(
    { project_id, name, tags, pool_id: (row) => [row.pool_id] },
    byAge,
  );
  /** Quotas that administrators have set, by project. */
  readonly quotas = new Map<string, OctaviaQuotas>();
  readonly defaultQuotas: OctaviaQuotas;
  /** Octavia keeps the rows of deleted load balancers and answers differently for them. */
  readonly deleted = new Set<string>();
  /** `address:port` of members with failing health checks. */
  readonly membersDown = new Set<string>();

  constructor(clock: Clock, defaultQuotas: OctaviaQuotas) {
    this.clock = clock;
    this.defaultQuotas = defaultQuotas;
  }

  newRow(projectId: string, values: Readonly<Record<string, unknown>>): OctaviaRow {
    return {
      id: newUuid(),
      name: (values['name'] as string | undefined) ?? '',
      project_id: projectId,
      admin_state_up: (values['admin_state_up'] as boolean | undefined) ?? true,
      provisioning_status: 'PENDING_CREATE',
      operating_status: 'OFFLINE',
      tags: (values['tags'] as string[] | undefined) ?? [],
      created_at: this.now(),
      updated_at: null,
    };
  }

  now(): string {
    return new Date(this.clock.wallTime()).toISOString().replace(/\.\d+Z$/, '');
  }

  listenersOf(loadBalancerId: string): ListenerRow[] {
    return this.listeners.sort(this.listeners.by('loadbalancer_id', loadBalancerId));
  }

  poolsOf(loadBalancerId: string): PoolRow[] {
    return this.pools.sort(this.pools.by('loadbalancer_id', loadBalancerId));
  }

  membersOf(poolId: string): MemberRow[] {
    return this.members.sort(this.members.by('pool_id', poolId));
  }

  monitorOf(poolId: string): HealthMonitorRow | undefined {
    return this.healthMonitors.by('pool_id', poolId)[0];
  }

  /** Listeners that use the pool as their default pool. */
  listenersWith(poolId: string): ListenerRow[] {
    return this.listeners.by('default_pool_id', poolId);
  }

  deletePool(poolId: string): void {
    for (const member of this.members.by('pool_id', poolId)) this.members.delete(member.id);
    for (const monitor of this.healthMonitors.by('pool_id', poolId)) {
      this.healthMonitors.delete(monitor.id);
    }
    for (const listener of this.listenersWith(poolId)) {
      this.listeners.update(listener, { default_pool_id: null });
    }
    this.pools.delete(poolId);
  }
}
