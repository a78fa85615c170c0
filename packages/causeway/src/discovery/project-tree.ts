import type {
  Listener,
  LoadBalancer,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';

/** What is needed of each object; the rest is let go so that thousands of projects fit in memory. */
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
  /** Pools that policies of this listener choose by what a request contains. */
  readonly l7PoolIds: readonly string[];
}

export interface LoadBalancerView
  extends Pick<LoadBalancer, 'id' | 'name' | 'adminStateUp' | 'vipAddress'> {
  readonly listeners: readonly ListenerView[];
}

/** A project's load balancers, as one reading of the cloud shows them. */
export interface ProjectTree {
  readonly loadBalancers: readonly LoadBalancerView[];
  /** Those of which our user does not see all: what is here of them stays as it is. */
  readonly unclear: readonly UnclearLoadBalancer[];
}

export interface UnclearLoadBalancer {
  readonly id: string;
  readonly name: string;
  readonly why: string;
}
