import type { Family } from '@causeway/base/address/address';
import type { Protocol } from '@causeway/base/address/port';
import type { Owner } from './provider.ts';

/** The owner of a load balancer, with the kind of its object. */
export interface FrontendOwner extends Owner {
  readonly kind: 'Service';
}

export interface FrontendPort {
  /** Empty if the port has no name. EndpointSlices name their ports the same. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** The number or the name of the port of the pods. */
  readonly target: number | string;
  readonly nodePort: number | undefined;
}

/** How a provider finds the backends. */
export interface BackendSelection {
  /** `namespace/name` of the Service that has the EndpointSlices. */
  readonly service: string;
  /** Endpoints that are not ready count as ready. */
  readonly includesNotReady: boolean;
  /** Addresses of the Service inside the cluster, as text. A headless Service has none. */
  readonly clusterAddresses: readonly string[];
  /** `Local`: a node sends connections only to its own pods. */
  readonly trafficPolicy: 'Cluster' | 'Local';
  /** The port on which a node says whether it has endpoints. Exists with the policy `Local` only. */
  readonly healthCheckNodePort: number | undefined;
}

/** Which connections a frontend accepts, and how it assigns them to backends. */
export interface FrontendPolicy {
  /** Networks, as text, from which the frontend accepts connections. Empty means all. */
  readonly sourceRanges: readonly string[];
  readonly affinity: 'none' | 'client';
  /** The idle time after which a client may get another backend. */
  readonly affinityTimeoutSeconds: number | undefined;
}

/**
 * What an owner asks of a provider: the frontends to serve, where their backends are, and with which policy.
 * A provider gets this value and never the object of the owner. The value has no status and no default of a
 * provider, and building it never fails: a provider checks the texts that it reads, and reports on the owner.
 */
export interface FrontendSpec {
  readonly owner: FrontendOwner;
  readonly createdAt: string;
  /** Whether the owner is being deleted. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations of the owner. Each provider reads its own options from them. */
  readonly annotations: Readonly<Record<string, string>>;
  /** From where clients connect: from outside of the cluster, from inside, or not by a load balancer. */
  readonly exposure: 'external' | 'cluster' | 'none';
  /** The load balancer class. */
  readonly className: string | undefined;
  readonly families: readonly Family[];
  /** Whether a provider must serve all families, or serves those in which it has addresses. */
  readonly familyPolicy: 'single' | 'prefer-both' | 'require-both';
  /** The address in the field of the owner, as text. An annotation can request addresses, too. */
  readonly requestedAddress: string | undefined;
  readonly ports: readonly FrontendPort[];
  readonly backends: BackendSelection;
  readonly policy: FrontendPolicy;
  /** Further addresses that the nodes serve, beside those of a load balancer. */
  readonly externalIps: readonly string[];
  /** Addresses and host names in the status of the owner, of every writer. */
  readonly published: readonly string[];
}

/** `namespace/name` of an owner. */
export function ownerKey({ namespace, name }: Owner): string {
  return `${namespace}/${name}`;
}
