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
   * What it was given: of the gateway's Services the L2 port with protocol and port, as written on them; of
   * others the address with those of the spec. A port that a user has just written is nobody's yet.
   */
  readonly places: readonly string[];
  /** Ids of the L2 ports that it says it has. */
  readonly l2Ports: readonly string[];
}

export interface SeenGateway {
  readonly name: string;
  /** Virtual addresses in the rules of its kernel. */
  readonly rules: ReadonlySet<string>;
  /** Those in keepalived's configuration. */
  readonly announced: ReadonlySet<string>;
  readonly isMaster: boolean;
}

/** A load balancer of Octavia's that belongs to the cluster. */
export interface SeenBalancer {
  readonly id: string;
  readonly status: string;
  readonly vipPort: string | undefined;
  readonly vip: string;
  /** `PORT to ADDRESS:PORT` for each listener and member. */
  readonly ways: readonly string[];
}

export interface SeenCloud {
  /** Our ports, and the addresses that each has. */
  readonly ports: ReadonlyMap<string, readonly string[]>;
  /** The floating addresses, and the port that each leads to. */
  readonly floating: ReadonlyMap<string, string | undefined>;
  readonly allowed: Allowed;
}

/** Everything at about the same moment. */
export interface Observation {
  readonly services: readonly SeenService[];
  readonly cloud: SeenCloud;
  readonly balancers: readonly SeenBalancer[];
  /** Those that answered. */
  readonly gateways: readonly SeenGateway[];
  /** By Service and address: who answered last, undefined if nobody did. */
  readonly answers: ReadonlyMap<string, string | undefined>;
  /** Addresses that the ledger has for Services of the cluster. */
  readonly reserved: ReadonlySet<string>;
  /** Those who hold an address in the other cluster. */
  readonly owners: ReadonlySet<string>;
  /** Load balancers of the other project, and the Services that were made of any. */
  readonly others: readonly { readonly id: string; readonly name: string }[];
  readonly discovered: readonly string[];
  /** The Service that is put to sleep every now and then. */
  readonly sleeper: SeenSleeper;
}

/** What the user wants of a Service. */
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

/** Under which name the answers of a Service at one of its addresses are noted. */
export function answerKey(service: string, address: string, port: number): string {
  return `${service} at ${address}, port ${port}`;
}
