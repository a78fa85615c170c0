import type { Acknowledgement } from '../../protocol/acknowledgement.ts';
import type { RemovalConfirmation } from '../../protocol/removal-confirmation.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { FrontendKey } from '../../protocol/frontend.ts';
import type { FrontendIdRecord } from '../../protocol/records.ts';
import type { PinCursor, PinDelta, PinSet } from '../../protocol/pins.ts';
import type { Address } from '@causeway/base/address/address';

/** The requests about pins. */
export interface PinClient {
  /** Pins the connections that this update would move, before it is sent. Returns their frontends. */
  prepare(lines: Iterable<string>, signal: AbortSignal): Promise<ReadonlySet<FrontendKey>>;
  /** The changes of the agent's pins since the cursor; all pins without a cursor. */
  collect(since: PinCursor | undefined, signal: AbortSignal): Promise<PinDelta>;
  /** Hands pins of another gateway over. Resolves when the agent has acknowledged them. */
  send(pins: PinSet, signal: AbortSignal): Promise<void>;
}

/** The interface to an agent: the HTTP client, or an agent in memory. */
export interface AgentClient {
  status(signal: AbortSignal): Promise<AgentStatus>;
  push(lines: Iterable<string>, signal: AbortSignal): Promise<Acknowledgement>;
  /** The agent's status now and after every change, until the signal fires. */
  events(signal: AbortSignal): AsyncIterable<AgentStatus>;
  /** Sends the unhealthy backends that all gateways agree on. */
  sendUnhealthy(unhealthy: Iterable<Address>, signal: AbortSignal): Promise<void>;
  /** Says whether another gateway can serve in place of this one. Missing for an agent without such a request. */
  sendRelief?(isAvailable: boolean, signal: AbortSignal): Promise<void>;
  /** Confirms withheld removals. Missing for an agent that never withholds any. */
  confirmRemovals?(
    confirmation: RemovalConfirmation,
    signal: AbortSignal,
  ): Promise<Acknowledgement>;
  /** The requests about pins. Missing for an agent without pins. */
  readonly pins?: PinClient;
  /** All frontends that the agent serves, if it supports the request. */
  counters?(signal: AbortSignal): Promise<readonly FrontendIdRecord[]>;
}

/** The agent's reason code of a rejection, for both kinds of clients. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Error && 'reason' in error ? error.reason : undefined;
}

/** The part of a status that shows whether the gateway still has the state that it confirmed. */
export type HeardStatus = Pick<AgentStatus, 'generation' | 'withheld'>;
