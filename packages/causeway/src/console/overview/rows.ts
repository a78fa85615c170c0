/**
 * What an operator sees: one row for each thing, small enough that ten thousand of them are nothing.
 * The dashboard's pages and the command line show the same rows.
 */

/**
 * - `serving`: it has its addresses and they are served
 * - `pending`: under way, `message` says at which step
 * - `failed`: it can't be served as it is, `message` says why
 * - `idle`: asleep, wakes on the first connection
 * - `internal`: nothing to do from outside
 * - `unclaimed`: of type LoadBalancer, and no provider has taken it
 * - `deleting`: waits for what it holds outside of the cluster to be given back
 */
export type ServiceState =
  | 'serving'
  | 'pending'
  | 'failed'
  | 'idle'
  | 'internal'
  | 'unclaimed'
  | 'deleting';

export interface ServiceRow {
  /** `namespace/name` */
  readonly key: string;
  readonly type: string;
  /** Who serves it; empty for nobody. */
  readonly provider: string;
  readonly state: ServiceState;
  readonly reason: string;
  readonly message: string;
  readonly addresses: readonly string[];
  /** Such as `80/TCP`. */
  readonly ports: readonly string[];
  readonly endpoints: { readonly ready: number; readonly all: number };
  /** Where it was discovered; empty for one that was made in the cluster. */
  readonly backend: string;
  readonly idledAt: string;
  readonly createdAt: string;
}

export interface GatewayRow {
  readonly key: string;
  readonly url: string;
  readonly reachable: boolean;
  /** False while it does not answer, or an alarm says that it does not serve clients. */
  readonly canServe: boolean;
  /** Why not, or what else is wrong. */
  readonly message: string;
  /** As keepalived says: `MASTER`, `BACKUP`, `FAULT`; `unknown` while it can't be asked. */
  readonly vrrp: string;
  readonly vrrpSince: string;
  readonly generation: number;
  readonly endpoints: number;
  readonly isDrained: boolean;
  readonly isFrozen: boolean;
  readonly alarms: readonly string[];
  readonly unhealthy: readonly string[];
  readonly connections: number;
  readonly connectionLimit: number;
  readonly version: string;
}

export interface PoolRow {
  /** `site/pool` */
  readonly key: string;
  readonly ranges: readonly string[];
  readonly total: number;
  readonly used: number;
  readonly quarantined: number;
  readonly free: number;
  readonly isDraining: boolean;
}

/** An Event of Kubernetes about something that an operator of this would look at. */
export interface EventRow {
  readonly key: string;
  readonly at: string;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** Such as `Service shop/web`. */
  readonly about: string;
  readonly count: number;
  readonly source: string;
}

export interface Rows {
  readonly service: ServiceRow;
  readonly gateway: GatewayRow;
  readonly pool: PoolRow;
  readonly event: EventRow;
}

export type RowKind = keyof Rows;
export const rowKinds: readonly RowKind[] = ['service', 'gateway', 'pool', 'event'];

/** What changed since the last message; the first one has everything. */
export interface RowChanges {
  readonly set: { readonly [Kind in RowKind]?: readonly Rows[Kind][] };
  readonly removed: { readonly [Kind in RowKind]?: readonly string[] };
}

/** Where a connection to a Service goes. */
export interface ServicePath {
  readonly service: ServiceRow;
  readonly gateways: readonly PathGateway[];
  readonly endpoints: readonly PathEndpoint[];
  readonly events: readonly EventRow[];
}

export interface PathGateway {
  readonly name: string;
  readonly canServe: boolean;
  readonly vrrp: string;
  readonly reachable: boolean;
  /** New connections to the Service's addresses since the rules were made; null where nobody counted. */
  readonly connections: number | null;
}

export interface PathEndpoint {
  readonly address: string;
  readonly ports: readonly string[];
  readonly node: string;
  /** The pod behind it, if there is one. */
  readonly target: string;
  readonly state: 'ready' | 'draining' | 'not-ready';
}
