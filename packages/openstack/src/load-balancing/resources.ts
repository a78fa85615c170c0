import type { Address } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';

export type ProvisioningStatus =
  | 'ACTIVE'
  | 'DELETED'
  | 'ERROR'
  | 'PENDING_CREATE'
  | 'PENDING_UPDATE'
  | 'PENDING_DELETE'
  | 'UNKNOWN';

export type OperatingStatus =
  | 'ONLINE'
  | 'OFFLINE'
  | 'DEGRADED'
  | 'DISABLED'
  | 'ERROR'
  | 'NO_MONITOR'
  | 'DRAINING'
  | 'UNKNOWN';

/** Fields that every object of a load balancer has. */
interface Common {
  readonly id: string;
  /** May be empty: names are optional in OpenStack, and not unique. */
  readonly name: string;
  readonly projectId: string;
  readonly adminStateUp: boolean;
  /** LBaaS v2 keeps this on the load balancer only; its children have UNKNOWN. */
  readonly provisioningStatus: ProvisioningStatus;
  readonly operatingStatus: OperatingStatus;
  /** Always empty in LBaaS v2, which has no tags. */
  readonly tags: readonly string[];
}

export interface LoadBalancer extends Common {
  readonly description: string;
  readonly provider: string | undefined;
  readonly vipAddress: Address | undefined;
  readonly vipPortId: string | undefined;
  readonly vipSubnetId: string | undefined;
  readonly vipNetworkId: string | undefined;
  readonly additionalVips: readonly AdditionalVip[];
  readonly listenerIds: readonly string[];
  readonly poolIds: readonly string[];
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
}

export interface AdditionalVip {
  readonly subnetId: string;
  readonly address?: Address;
}

export interface Listener extends Common {
  readonly description: string;
  readonly loadBalancerId: string | undefined;
  /** As the service spells it: TCP, UDP, SCTP, HTTP, HTTPS, TERMINATED_HTTPS, PROMETHEUS. */
  readonly protocol: string;
  readonly port: Port;
  readonly defaultPoolId: string | undefined;
  readonly connectionLimit: number | undefined;
  readonly timeouts: ListenerTimeouts;
  /** CIDRs as the service writes them; undefined if it lacks the field or none are set. */
  readonly allowedCidrs: readonly string[] | undefined;
  readonly insertHeaders: Readonly<Record<string, string>>;
  readonly tlsContainerRef: string | undefined;
}

/** Milliseconds. */
export interface ListenerTimeouts {
  readonly clientData?: number;
  readonly memberConnect?: number;
  readonly memberData?: number;
  readonly tcpInspect?: number;
}

export interface Pool extends Common {
  readonly description: string;
  readonly loadBalancerId: string | undefined;
  readonly listenerIds: readonly string[];
  readonly memberIds: readonly string[];
  readonly healthMonitorId: string | undefined;
  readonly protocol: string;
  readonly algorithm: string;
  readonly sessionPersistence: SessionPersistence | undefined;
  /** Whether connections to members use TLS; LBaaS v2 does not support it. */
  readonly tlsEnabled: boolean;
}

export interface SessionPersistence {
  readonly type: 'SOURCE_IP' | 'HTTP_COOKIE' | 'APP_COOKIE';
  readonly cookieName?: string;
}

export interface Member extends Common {
  readonly address: Address;
  readonly port: Port;
  readonly subnetId: string | undefined;
  readonly weight: number;
  readonly backup: boolean;
  readonly monitorAddress: Address | undefined;
  readonly monitorPort: Port | undefined;
}

export interface HealthMonitor extends Common {
  readonly poolId: string | undefined;
  readonly type: string;
  /** Seconds, like the following fields. */
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number | undefined;
  readonly urlPath: string | undefined;
  readonly httpMethod: string | undefined;
  readonly expectedCodes: string | undefined;
  readonly domainName: string | undefined;
}

/** The load balancer and all its children, as one call returns them. */
export interface StatusTree extends StatusNode {
  readonly listeners: readonly ListenerStatus[];
  /** Pools without a listener. LBaaS v2 lists every pool under its listener only. */
  readonly pools: readonly PoolStatus[];
}

export interface StatusNode {
  readonly id: string;
  readonly name: string;
  readonly provisioningStatus: ProvisioningStatus;
  readonly operatingStatus: OperatingStatus;
}

export interface ListenerStatus extends StatusNode {
  readonly pools: readonly PoolStatus[];
}

export interface PoolStatus extends StatusNode {
  readonly members: readonly MemberStatus[];
  readonly healthMonitor: StatusNode | undefined;
}

export interface MemberStatus extends StatusNode {
  readonly address: Address;
  readonly port: Port;
}

export interface Provider {
  readonly name: string;
  readonly description: string;
}

export interface Flavor {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

export interface AvailabilityZone {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}
