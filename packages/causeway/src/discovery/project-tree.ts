import type {
  Listener,
  LoadBalancer,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';

/** The required fields of each object; the others are dropped so that thousands of projects fit in memory. */
export type MemberView = Pick<
  Member,
  'address' | 'port' | 'weight' | 'backup' | 'adminStateUp' | 'operatingStatus'
>;

export interface PoolView extends Pick<Pool, 'id' | 'protocol' | 'tlsEnabled' | 'adminStateUp'> {
  readonly members: readonly MemberView[];
}

export interface ListenerView
  extends Pick<Listener, 'id' | 'name' | 'protocol' | 'port' | 'adminStateUp'> {
  readonly pool: PoolView | undefined;
  /** Pools that policies of this listener choose by the content of requests. */
  readonly l7PoolIds: readonly string[];
}

export interface LoadBalancerView
  extends Pick<LoadBalancer, 'id' | 'name' | 'adminStateUp' | 'vipAddress'> {
  readonly listeners: readonly ListenerView[];
}

/** A project's load balancers, as of one reading of the cloud. */
export interface ProjectTree {
  readonly loadBalancers: readonly LoadBalancerView[];
  /** Load balancers that are not fully visible to the user: their objects do not change. */
  readonly unclear: readonly UnclearLoadBalancer[];
}

export interface UnclearLoadBalancer {
  readonly id: string;
  readonly name: string;
  readonly why: string;
}
