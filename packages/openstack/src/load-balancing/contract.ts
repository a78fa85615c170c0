import type { Address } from '@causeway/base/address/address';
import type { CallOptions, CreateOptions, Deletion } from '../call.ts';
import type { Capabilities } from './capabilities.ts';
import type {
  AvailabilityZone,
  Flavor,
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Pool,
  ProvisioningStatus,
  Provider,
  StatusTree,
} from './resources.ts';
import type {
  HealthMonitorChange,
  HealthMonitorSpec,
  ListenerChange,
  ListenerSpec,
  LoadBalancerChange,
  LoadBalancerSpec,
  MemberChange,
  MemberSpec,
  PoolChange,
  PoolSpec,
} from './specs.ts';
import type { LoadBalancerWaiter } from './waiter.ts';

export interface LoadBalancerFilter {
  readonly name?: string;
  readonly projectId?: string;
  readonly vipAddress?: Address;
  readonly vipPortId?: string;
  readonly provisioningStatus?: ProvisioningStatus;
  /** Objects that have all of these tags. `unsupported` if the service has no tags. */
  readonly tags?: readonly string[];
}

export interface ChildFilter {
  readonly name?: string;
  readonly projectId?: string;
  readonly loadBalancerId?: string;
  readonly tags?: readonly string[];
}

export interface HealthMonitorFilter {
  readonly name?: string;
  readonly projectId?: string;
  readonly poolId?: string;
  readonly tags?: readonly string[];
}

/**
 * Load balancers as a service. Two services implement the contract: Octavia, and LBaaS v2 of Mitaka's
 * Neutron.
 *
 * A write to a child locks its load balancer until it is ACTIVE again, and a write to a locked one fails with
 * `conflict` (`isLocked`). Writes return as soon as the service has accepted them; use `waiter` to wait, and
 * `whenUnlocked` to write once the lock is released. Operations that LBaaS v2 splits into several requests (a
 * whole tree, a cascade, a batch) wait between them.
 *
 * A create that LBaaS v2 and Octavia keep unique themselves (a listener by its port, a member by its address
 * and port, a monitor by its pool) is recognized without `once`.
 */
export interface LoadBalancing {
  readonly kind: 'octavia' | 'lbaas-v2';
  /** The poller that waits for this service's load balancers, shared by all users of this session. */
  readonly waiter: LoadBalancerWaiter;
  /** Capabilities of this service with this provider (default: the default provider). */
  capabilities(provider?: string): Capabilities;

  loadBalancers(filter: LoadBalancerFilter, call: CallOptions): AsyncIterable<LoadBalancer>;
  loadBalancer(id: string, call: CallOptions): Promise<LoadBalancer>;
  createLoadBalancer(spec: LoadBalancerSpec, call: CreateOptions): Promise<LoadBalancer>;
  updateLoadBalancer(
    id: string,
    change: LoadBalancerChange,
    call: CallOptions,
  ): Promise<LoadBalancer>;
  /** Without `cascade`, a load balancer that has children is rejected. */
  deleteLoadBalancer(
    id: string,
    call: CallOptions & { readonly cascade?: boolean },
  ): Promise<Deletion>;
  statusTree(loadBalancerId: string, call: CallOptions): Promise<StatusTree>;

  listeners(filter: ChildFilter, call: CallOptions): AsyncIterable<Listener>;
  listener(id: string, call: CallOptions): Promise<Listener>;
  createListener(spec: ListenerSpec, call: CreateOptions): Promise<Listener>;
  updateListener(id: string, change: ListenerChange, call: CallOptions): Promise<Listener>;
  deleteListener(id: string, call: CallOptions): Promise<Deletion>;

  pools(filter: ChildFilter, call: CallOptions): AsyncIterable<Pool>;
  pool(id: string, call: CallOptions): Promise<Pool>;
  createPool(spec: PoolSpec, call: CreateOptions): Promise<Pool>;
  updatePool(id: string, change: PoolChange, call: CallOptions): Promise<Pool>;
  deletePool(id: string, call: CallOptions): Promise<Deletion>;

  members(poolId: string, call: CallOptions): AsyncIterable<Member>;
  createMember(poolId: string, spec: MemberSpec, call: CreateOptions): Promise<Member>;
  updateMember(
    poolId: string,
    id: string,
    change: MemberChange,
    call: CallOptions,
  ): Promise<Member>;
  deleteMember(poolId: string, id: string, call: CallOptions): Promise<Deletion>;
  /**
   * Sets the pool's members to exactly these, keyed by address and port; `keepOthers` only adds and changes.
   * Nothing is sent without a difference, so the load balancer is not locked.
   */
  replaceMembers(
    poolId: string,
    members: readonly MemberSpec[],
    call: CallOptions & { readonly keepOthers?: boolean },
  ): Promise<'changed' | 'unchanged'>;

  healthMonitors(filter: HealthMonitorFilter, call: CallOptions): AsyncIterable<HealthMonitor>;
  healthMonitor(id: string, call: CallOptions): Promise<HealthMonitor>;
  createHealthMonitor(spec: HealthMonitorSpec, call: CreateOptions): Promise<HealthMonitor>;
  updateHealthMonitor(
    id: string,
    change: HealthMonitorChange,
    call: CallOptions,
  ): Promise<HealthMonitor>;
  deleteHealthMonitor(id: string, call: CallOptions): Promise<Deletion>;

  providers(call: CallOptions): Promise<Provider[]>;
  /** Empty if the service has none. */
  flavors(call: CallOptions): Promise<Flavor[]>;
  availabilityZones(call: CallOptions): Promise<AvailabilityZone[]>;
}
