import type { Family } from '@causeway/base/address/address';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import type { DebouncedCluster } from './debounced-cluster.ts';
import type { FloatingIps } from './floating-ips.ts';
import type { Identity } from './identity.ts';
import type { Inventory } from './inventory.ts';
import type { KlbStore } from './klb-store.ts';
import type { PodAccess } from './pod-access.ts';

/** The state that decisions read and actions change: the objects of the cluster and of the cloud. */
export interface OctaviaState {
  readonly identity: Identity;
  readonly klbs: KlbStore;
  /** Endpoints and nodes. */
  readonly cluster: DebouncedCluster;
  readonly balancing: LoadBalancing;
  /** Load balancers. */
  readonly inventory: Inventory;
  readonly floating: FloatingIps;
  /** Security group rules of the members; undefined if the controller does not manage them. */
  readonly access: PodAccess | undefined;
  /** The subnets of the VIPs. */
  readonly subnets: ReadonlyMap<Family, Subnet>;
}
