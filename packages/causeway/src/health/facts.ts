import type { Family } from '@causeway/base/address/address';
import type { Role } from '../gateway/protocol/role.ts';

// The facts that the model uses. Times are milliseconds of wall time; undefined means that the time is not
// known.

/** The lease of the controller. `not-read` means that the reader may not read the lease, or did not. */
export type LeaseFacts =
  | { readonly kind: 'not-read' }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'lease';
      /** Empty after the last leader has released the lease. */
      readonly holder: string;
      readonly renewedAt: number | undefined;
      readonly validForMs: number;
    };

/** A problem of one Service, with the time since when it is known. */
export interface ServiceProblem {
  readonly message: string;
  readonly since: number | undefined;
}

/** Problems by Service (`namespace/name`). The map can have fewer Services than `total`. */
export interface ServiceProblems {
  readonly total: number;
  readonly listed: ReadonlyMap<string, ServiceProblem>;
}

export interface GatewayFacts {
  readonly name: string;
  /** When the facts were observed. */
  readonly observedAt: number | undefined;
  /** Whether the agent accepts updates. */
  readonly reachable: boolean;
  /** Why and since when the agent does not answer or accept updates. */
  readonly failure: string | undefined;
  readonly failedSince: number | undefined;
  /** Undefined while the status of the agent is not known. */
  readonly role: Role | undefined;
  readonly alarms: readonly string[];
  readonly isFenced: boolean;
  /** Services that the gateway rejects. */
  readonly rejected: ServiceProblems;
  /** Services whose last change the gateway has not confirmed. */
  readonly unconfirmed: ServiceProblems;
}

/** Undefined gateways were not read. */
export interface ClusterFacts {
  readonly now: number;
  readonly lease: LeaseFacts;
  /** When the controller last wrote its report about gateways. */
  readonly reportedAt: number | undefined;
  readonly gateways: readonly GatewayFacts[] | undefined;
  /** Services whose backends all fail their probes. */
  readonly unhealthy: ServiceProblems;
}

export interface EndpointFacts {
  readonly ready: number;
  /** Terminating endpoints that still serve. */
  readonly draining: number;
  readonly all: number;
}

export type ProviderFacts =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly problem: string }
  | { readonly kind: 'record'; readonly name: string };

export interface ConditionFacts {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly since: number | undefined;
}

export interface ServiceFacts {
  /** `namespace/name` */
  readonly key: string;
  readonly isLoadBalancer: boolean;
  readonly className: string | undefined;
  readonly provider: ProviderFacts;
  /** Addresses in the status. A host name has no family. */
  readonly addresses: readonly { readonly address: string; readonly family: Family | undefined }[];
  /** The condition that the controller writes. */
  readonly condition: ConditionFacts | undefined;
  readonly createdAt: number | undefined;
  /** Set while the Service is being deleted. */
  readonly deletion: { readonly since: number | undefined; readonly waitsFor: string } | undefined;
  /** Set while the Service is idle. */
  readonly idling: { readonly since: number | undefined } | undefined;
  readonly endpoints: ReadonlyMap<Family, EndpointFacts>;
  /** As an argument of kubectl: `app=web`; empty without a selector. */
  readonly selector: string;
}

export const noProblems: ServiceProblems = { total: 0, listed: new Map() };
