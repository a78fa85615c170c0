import type { Address } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import type { AdditionalVip, ListenerTimeouts, SessionPersistence } from './resources.ts';

export type ListenerProtocol = 'TCP' | 'UDP' | 'SCTP' | 'HTTP' | 'HTTPS' | 'TERMINATED_HTTPS';
export type PoolProtocol = 'TCP' | 'UDP' | 'SCTP' | 'HTTP' | 'HTTPS' | 'PROXY' | 'PROXYV2';
export type Algorithm = 'ROUND_ROBIN' | 'LEAST_CONNECTIONS' | 'SOURCE_IP' | 'SOURCE_IP_PORT';
export type HealthMonitorType =
  | 'TCP'
  | 'UDP-CONNECT'
  | 'HTTP'
  | 'HTTPS'
  | 'PING'
  | 'SCTP'
  | 'TLS-HELLO';

/** A load balancer to create, with any number of its children. */
export interface LoadBalancerSpec {
  readonly name: string;
  readonly description?: string;
  /** For callers that may act for other projects. */
  readonly projectId?: string;
  /** One of subnet, network or an existing port; an existing port outlives the load balancer. */
  readonly vipSubnetId?: string;
  readonly vipNetworkId?: string;
  readonly vipPortId?: string;
  readonly vipAddress?: Address;
  readonly additionalVips?: readonly AdditionalVip[];
  readonly vipSecurityGroupIds?: readonly string[];
  readonly provider?: string;
  readonly flavorId?: string;
  readonly availabilityZone?: string;
  readonly adminStateUp?: boolean;
  readonly tags?: readonly string[];
  readonly listeners?: readonly ListenerTreeSpec[];
}

export interface LoadBalancerChange {
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly tags?: readonly string[];
  readonly vipSecurityGroupIds?: readonly string[];
}

/** Changeable fields of a listener. `null` removes a setting. */
export interface ListenerChange {
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly defaultPoolId?: string | null;
  readonly connectionLimit?: number;
  /** `null` resets a timeout to the service's default. */
  readonly timeouts?: { readonly [Name in keyof ListenerTimeouts]?: number | null };
  readonly allowedCidrs?: readonly string[] | null;
  readonly insertHeaders?: Readonly<Record<string, string>>;
  readonly tlsContainerRef?: string | null;
  readonly tags?: readonly string[];
}

interface ListenerBase extends ListenerChange {
  readonly name: string;
  readonly protocol: ListenerProtocol;
  readonly port: Port;
}

export interface ListenerSpec extends ListenerBase {
  readonly loadBalancerId: string;
}

export interface ListenerTreeSpec extends Omit<ListenerBase, 'defaultPoolId'> {
  readonly defaultPool?: PoolTreeSpec;
}

export interface PoolChange {
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly algorithm?: Algorithm;
  readonly sessionPersistence?: SessionPersistence | null;
  readonly tags?: readonly string[];
}

interface PoolBase extends PoolChange {
  readonly name: string;
  readonly protocol: PoolProtocol;
  readonly algorithm: Algorithm;
}

/** A pool belongs to a listener as its default pool, or to a load balancer directly. */
export interface PoolSpec extends PoolBase {
  readonly parent: { readonly listenerId: string } | { readonly loadBalancerId: string };
}

export interface PoolTreeSpec extends PoolBase {
  readonly members?: readonly MemberSpec[];
  readonly healthMonitor?: HealthMonitorSettings;
}

export interface MemberChange {
  readonly name?: string;
  readonly adminStateUp?: boolean;
  readonly weight?: number;
  readonly backup?: boolean;
  readonly monitorAddress?: Address | null;
  readonly monitorPort?: Port | null;
  readonly tags?: readonly string[];
}

export interface MemberSpec extends MemberChange {
  readonly address: Address;
  readonly port: Port;
  readonly subnetId?: string;
}

export interface HealthMonitorChange {
  readonly name?: string;
  readonly adminStateUp?: boolean;
  readonly delay?: number;
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly maxRetriesDown?: number;
  readonly urlPath?: string;
  readonly httpMethod?: string;
  readonly expectedCodes?: string;
  readonly domainName?: string;
  readonly tags?: readonly string[];
}

export interface HealthMonitorSettings extends HealthMonitorChange {
  readonly type: HealthMonitorType;
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
}

export interface HealthMonitorSpec extends HealthMonitorSettings {
  readonly poolId: string;
}
