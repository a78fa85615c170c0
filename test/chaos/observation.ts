import type { Allowed } from '../kernel/gateway/port-security.ts';
import type { PodName, ServiceClass } from './imagined-user.ts';
import type { SeenSleeper } from './sleeper.ts';

/** A Service as the API shows it. */
export interface SeenService {
  readonly name: string;
  readonly uid: string;
  readonly serviceClass: string;
  readonly isDeleting: boolean;
  readonly isReady: boolean;
  readonly addresses: readonly string[];
  /**
   * What the Service has: for a Service of the gateway the L2 port with protocol and port, as written on it;
   * for others the address with protocol and port of the spec. A port that a user has just written belongs to
   * no Service yet.
   */
  readonly places: readonly string[];
  /** IDs of the L2 ports on the Service. */
  readonly l2Ports: readonly string[];
}

export interface SeenGateway {
  readonly name: string;
  /** Virtual addresses in the rules of its kernel. */
  readonly rules: ReadonlySet<string>;
  /** Virtual addresses in keepalived's configuration. */
  readonly announced: ReadonlySet<string>;
  readonly isActive: boolean;
}

/** A load balancer of Octavia that belongs to the cluster. */
export interface SeenBalancer {
  readonly id: string;
  readonly status: string;
  readonly vipPort: string | undefined;
  readonly vip: string;
  /** `PORT to ADDRESS:PORT` for each listener and member. */
  readonly ways: readonly string[];
}

export interface SeenCloud {
  /** Ports of the cluster, with the addresses of each. */
  readonly ports: ReadonlyMap<string, readonly string[]>;
  /** Floating IPs, with the port of each. */
  readonly floating: ReadonlyMap<string, string | undefined>;
  readonly allowed: Allowed;
}

/** State of everything at about the same moment. */
export interface Observation {
  readonly services: readonly SeenService[];
  readonly cloud: SeenCloud;
  readonly balancers: readonly SeenBalancer[];
  /** Gateways that answered. */
  readonly gateways: readonly SeenGateway[];
  /** By Service and address: the last answer, undefined after a failure. */
  readonly answers: ReadonlyMap<string, string | undefined>;
  /** Addresses that the ledger assigned to Services of the cluster. */
  readonly reserved: ReadonlySet<string>;
  /** Owners of an address in the other cluster. */
  readonly owners: ReadonlySet<string>;
  /** Load balancers of the other project, and all Services that discovery made. */
  readonly others: readonly { readonly id: string; readonly name: string }[];
  readonly discovered: readonly string[];
  /** The Service that is idled now and then. */
  readonly sleeper: SeenSleeper;
}

/** Desired state of a Service. */
export interface DesiredService {
  readonly serviceClass: ServiceClass;
  readonly port: number;
  readonly targetPort: number;
  readonly pods: readonly PodName[];
  readonly isDualStack: boolean;
}

export interface DesiredServices {
  readonly services: ReadonlyMap<string, DesiredService>;
  readonly owners: ReadonlySet<string>;
  readonly balancers: ReadonlySet<string>;
}

/** Key of the answers of a Service at one of its addresses. */
export function answerKey(service: string, address: string, port: number): string {
  return `${service} at ${address}, port ${port}`;
}
