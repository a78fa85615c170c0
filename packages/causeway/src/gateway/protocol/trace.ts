import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { TraceStep } from '@causeway/nftables/trace/packet-tracer';

/** A new connection to trace through the agent's rules. */
export interface TraceQuestion {
  readonly client: Address;
  readonly clientPort: Port;
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
  /** `namespace/name`, to find the frontend if the address is translated on the way. */
  readonly service?: string | undefined;
}

export interface TraceAnswer {
  readonly outcome: 'forwarded' | 'sent-unchanged' | 'dropped' | 'rejected' | 'not-served';
  /** The reason, in one sentence. */
  readonly because: string;
  /** The frontend here; empty if it is not served. */
  readonly servedAs: string;
  /** The backend, such as `10.244.1.2:8080`; empty without one. */
  readonly destination: string;
  readonly isSourceKept: boolean;
  /** The frontend's other backends. */
  readonly others: readonly string[];
  /** Backends without traffic because they don't answer. */
  readonly unhealthy: readonly string[];
  readonly steps: readonly TraceStep[];
}
