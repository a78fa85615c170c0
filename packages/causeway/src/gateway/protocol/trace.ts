import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { TraceStep } from '@causeway/nftables/trace/packet-tracer';

/** A new connection, of which the agent tells what its rules would do with it. */
export interface TraceQuestion {
  readonly client: Address;
  readonly clientPort: Port;
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
  /** `namespace/name`, to find it by where the address is translated on its way here. */
  readonly service?: string | undefined;
}

export interface TraceAnswer {
  readonly outcome: 'forwarded' | 'sent-unchanged' | 'dropped' | 'rejected' | 'not-served';
  /** Why, in a sentence. */
  readonly because: string;
  /** What it is served as here; empty where it is not. */
  readonly servedAs: string;
  /** Where it goes: `10.244.1.2:8080`; empty where it goes nowhere. */
  readonly destination: string;
  readonly isSourceKept: boolean;
  /** The other places where connections to it may go. */
  readonly others: readonly string[];
  /** Those that get nothing because they don't answer. */
  readonly unhealthy: readonly string[];
  readonly steps: readonly TraceStep[];
}
