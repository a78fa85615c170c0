import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { Prefix } from '@causeway/base/address/prefix';
import type { Transaction } from '../model/transaction.ts';
import type { IngressPolicy, PodPolicies, ServiceKey, VirtualService } from './virtual-service.ts';

/** Difference to the planned state. Omitted parts stay unchanged. */
export interface LayoutChange {
  /** New services, and services with a changed description. */
  readonly set?: readonly VirtualService[];
  readonly remove?: readonly ServiceKey[];
  /** Each of these replaces its part entirely. */
  readonly nodes?: readonly Address[];
  readonly drainingNodes?: readonly Address[];
  readonly policies?: readonly IngressPolicy[];
  readonly pods?: readonly PodPolicies[];
  /** New and changed policies by key. A policy that `podEdits` leave without a pod is removed. */
  readonly policyEdits?: ReadonlyMap<string, IngressPolicy>;
  /** Pods with changed policies; undefined for a pod that no policy selects any more. */
  readonly podEdits?: ReadonlyMap<Address, PodPolicies | undefined>;
  readonly virtualNetworks?: readonly Prefix[];
}

/**
 * A backend behind two virtual addresses or ports: the kernel can't decide which one a server's packet
 * belongs to.
 */
export interface AmbiguousBackend {
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
  /** Services that may lose their connections to this backend in a failover to another gateway. */
  readonly services: readonly ServiceKey[];
}

/** The transaction from the current ruleset to the wanted one. Nothing is applied yet. */
export interface LayoutPlan {
  readonly transaction: Transaction;
  /** Backends that services no longer use; delete their conntrack entries after the commit. */
  readonly removedBackends: readonly Removed[];
  /** Call it after the driver has applied the transaction; until then the layout keeps its old state. */
  accept(): void;
}

/** A destination that connections no longer use, or a service that no longer exists. */
export type Removed = RemovedBackend | RemovedService;

/** A removed service, with its connections to all backends: a backend may have left before. */
export interface RemovedService {
  readonly service: Pick<VirtualService, 'address' | 'protocol' | 'port'>;
  readonly address?: undefined;
  readonly backend?: undefined;
  /** Connections that a backend has answered continue. */
  readonly keepsAnswered?: boolean;
}

/**
 * A destination that gets no new connections any more: a backend of one service, or a whole node. An answered
 * TCP connection through a node always continues.
 */
export interface RemovedBackend {
  readonly service?: undefined;
  readonly address: Address;
  /** Connections that the backend has answered continue: it may still serve them. */
  readonly keepsAnswered?: boolean;
  readonly backend?: {
    readonly protocol: Protocol;
    readonly port: Port;
    /** Virtual address of the connections. */
    readonly virtualAddress: Address;
    readonly virtualPort: Port;
  };
}
