import type { Acknowledgement } from '../protocol/acknowledgement.ts';
import type { RemovalConfirmation } from '../protocol/removal-confirmation.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';
import type { EndpointIdRecord } from '../protocol/records.ts';
import type { Address } from '@causeway/base/address/address';

/** What is needed of an agent: the client over HTTP, or one in memory. */
export interface AgentClient {
  status(signal: AbortSignal): Promise<AgentStatus>;
  push(lines: Iterable<string>, signal: AbortSignal): Promise<Acknowledgement>;
  /** Its status now and after every change, until the signal fires. */
  events(signal: AbortSignal): AsyncIterable<AgentStatus>;
  /** Hands over who is silent, as all gateways together see it. */
  sendUnhealthy(unhealthy: Iterable<Address>, signal: AbortSignal): Promise<void>;
  /** Confirms removals that it withholds; missing where it never withholds any. */
  confirmRemovals?(
    confirmation: RemovalConfirmation,
    signal: AbortSignal,
  ): Promise<Acknowledgement>;
  /** Every endpoint that it serves, where it can be asked. */
  counters?(signal: AbortSignal): Promise<readonly EndpointIdRecord[]>;
}

/** The agent's own word for a rejection, over the wire and in memory. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Error && 'reason' in error ? error.reason : undefined;
}

/** The part of a status that tells whether the gateway still has what it confirmed. */
export type HeardStatus = Pick<AgentStatus, 'generation' | 'withheld'>;
