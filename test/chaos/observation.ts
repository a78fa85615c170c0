import type { PodName } from './plan.ts';

/** A Service as the API shows it. */
export interface SeenService {
  readonly name: string;
  readonly uid: string;
  readonly isDeleting: boolean;
  readonly isReady: boolean;
  readonly addresses: readonly string[];
  readonly ports: readonly string[];
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

export interface SeenCloud {
  /** Our ports, and the addresses that each has. */
  readonly ports: ReadonlyMap<string, readonly string[]>;
  /** The floating addresses, and the port that each leads to. */
  readonly floating: ReadonlyMap<string, string | undefined>;
}

/** Everything at about the same moment. */
export interface Observation {
  readonly services: readonly SeenService[];
  readonly cloud: SeenCloud;
  /** Those that answered. */
  readonly gateways: readonly SeenGateway[];
  /** By Service and address: who answered last, undefined if nobody did. */
  readonly answers: ReadonlyMap<string, string | undefined>;
}

/** What the user wants of a Service. */
export interface Wish {
  readonly port: number;
  readonly targetPort: number;
  readonly pods: readonly PodName[];
  readonly isDualStack: boolean;
}

/** Under which name the answers of a Service at one of its addresses are noted. */
export function answerKey(service: string, address: string, port: number): string {
  return `${service} at ${address}, port ${port}`;
}
