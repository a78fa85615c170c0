/**
 * The operator's view: one small row per object, so that ten thousand rows are cheap. The dashboard's pages
 * and the command line show the same rows.
 */

import type { Role } from '../../gateway/protocol/role.ts';
import type { HealthState } from '../../health/state.ts';

/** What a client gets; docs/health.md has the meanings. */
export type ServiceState = HealthState;

export interface ServiceRow {
  /** `namespace/name` */
  readonly key: string;
  readonly type: string;
  /** Provider of the Service; empty if none. */
  readonly provider: string;
  readonly state: ServiceState;
  /** The code of the most important cause; empty without a cause. */
  readonly reason: string;
  readonly message: string;
  /** When the cause began, in ISO 8601; empty if not known. */
  readonly since: string;
  /** What to do; empty if nothing. */
  readonly remedy: string;
  readonly addresses: readonly string[];
  /** Such as `80/TCP`. */
  readonly ports: readonly string[];
  readonly endpoints: { readonly ready: number; readonly all: number };
  /** Cloud in which it was discovered; empty for a Service of the cluster. */
  readonly backend: string;
  readonly idledAt: string;
  readonly createdAt: string;
}

export interface GatewayRow {
  readonly key: string;
  readonly url: string;
  readonly reachable: boolean;
  /** False while the gateway does not answer, or an alarm prevents it from serving clients. */
  readonly canServe: boolean;
  /** The reason, or another problem. */
  readonly message: string;
  /** `unknown` while the gateway does not answer. */
  readonly role: Role;
  /** Why the gateway is unable to become active; null if it is not. */
  readonly roleReason: string | null;
  readonly roleSince: string;
  readonly generation: number;
  readonly frontends: number;
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

/** A Kubernetes Event about an object that operators of Causeway use. */
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

/** The changes since the last message; the first one has all rows. */
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
  readonly role: Role;
  readonly reachable: boolean;
  /** New connections to the Service's addresses since the rules were written; null if not counted. */
  readonly connections: number | null;
}

export interface PathEndpoint {
  readonly address: string;
  readonly ports: readonly string[];
  readonly node: string;
  /** The pod of the endpoint, if any. */
  readonly target: string;
  readonly state: 'ready' | 'draining' | 'not-ready';
}
