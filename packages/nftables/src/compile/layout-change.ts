import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { Prefix } from '@causeway/base/address/prefix';
import type { Transaction } from '../model/transaction.ts';
import type { IngressPolicy, PodPolicies, ServiceKey, VirtualService } from './virtual-service.ts';

/** What is to be different from what is planned already. Parts that are left out stay as they are. */
export interface LayoutChange {
  /** New services, and services whose description has changed. */
  readonly set?: readonly VirtualService[];
  readonly remove?: readonly ServiceKey[];
  /** Each of these replaces its part as a whole. */
  readonly nodes?: readonly Address[];
  readonly policies?: readonly IngressPolicy[];
  readonly pods?: readonly PodPolicies[];
  readonly virtualNetworks?: readonly Prefix[];
}

/** An endpoint behind two virtual addresses or ports: which one a server's packet belongs to is unknown. */
export interface AmbiguousEndpoint {
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
  /** Services whose connections to this endpoint may not survive a move to another gateway. */
  readonly services: readonly ServiceKey[];
}

/** The way from the ruleset as it is to the one that is wanted. Nothing has happened yet. */
export interface LayoutPlan {
  readonly transaction: Transaction;
  /** Endpoints that services gave up; their conntrack entries are to be deleted after the commit. */
  readonly removedEndpoints: readonly RemovedEndpoint[];
  /** Call once the driver has applied the transaction; until then the layout keeps its old state. */
  accept(): void;
}

/** Where connections must not go any more: an endpoint of one service, or a node as a whole. */
export interface RemovedEndpoint {
  readonly address: Address;
  /** It still serves, and new connections go elsewhere: those that it has answered go on. */
  readonly isStillThere?: boolean;
  readonly endpoint?: {
    readonly protocol: Protocol;
    readonly port: Port;
    /** What the connections were opened to. */
    readonly virtualAddress: Address;
    readonly virtualPort: Port;
  };
}
