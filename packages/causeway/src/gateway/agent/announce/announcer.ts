import type { Address, Family } from '@causeway/base/address/address';
import type { Loop } from '@causeway/base/work/supervisor';
import type { Role } from '../../protocol/role.ts';
import type { Alarms } from '../alarms.ts';
import type { WatchedLink } from '../links/link-watch.ts';
import type { RoleListener } from './role-status.ts';

/**
 * Announces the virtual addresses of this gateway, and reports the gateway's role.
 *
 * Data:
 * - The announced addresses: the set that `announce` received last, without the addresses that `withdraw`
 *   removed. Another process of the agent may have announced them. They outlive the agent if the announcer's
 *   program does.
 * - The withdrawals: the causes for which this gateway gives up all addresses. `withdrawAll` adds a cause, and
 *   `resume` removes it.
 * - The role of this gateway, the same for all announced addresses.
 *
 * Roles: a gateway starts as `standby`. The gateways of a set elect the `active` one. A withdrawal or a fault
 * makes a gateway `unable`, and the end of the last one makes it `standby`.
 *
 * Invariants:
 * - Only announced addresses receive traffic, and only while the gateway is active.
 * - While there is a withdrawal, this gateway does not become active. `announce` changes the set and not the
 *   withdrawals.
 * - The end of a withdrawal does not take the active role from another gateway.
 * - The status shows an observed role, never a requested one: it changes after the role has changed.
 * - The end of the agent alone changes neither the announced addresses nor the role of a program that outlives
 *   the agent. `drain` precedes the end of the gateway.
 */
export interface Announcer {
  /** The announced addresses, including those of an earlier process that was interrupted. */
  announced(): Promise<ReadonlySet<Address>>;
  /** Checks that these addresses can be announced. Changes nothing. */
  test(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
  /** Announces exactly these addresses. Resolves after the announcement is verified. */
  announce(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
  /** Stops announcing these addresses; the others stay. Resolves after the withdrawal is verified. */
  withdraw(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
  /** Gives up all addresses, so that another gateway becomes active, until `resume` with the same cause. */
  withdrawAll(cause: WithdrawalCause, reason: string): Promise<void>;
  /** Ends the withdrawal of this cause. The gateway can become active after the last one has ended. */
  resume(cause: WithdrawalCause): Promise<void>;
  status(): AnnouncerStatus;
  /** The listener runs after each change of the role. */
  onChange(listener: RoleListener): void;
  /** Announced addresses that this gateway lacks although it is active. */
  missing(signal: AbortSignal): Promise<ReadonlySet<Address>>;
  /**
   * Gives up the active role for good before the gateway ends. Resolves when this gateway no longer receives
   * traffic. The agent does not call it when only the agent ends.
   */
  drain(signal: AbortSignal): Promise<void>;
  /** The tasks that keep the announcement and the role up to date. They run as long as the agent. */
  loops(alarms: Alarms): Record<string, Loop>;
  /**
   * The links and the other gateways. Undefined if the announcer does not observe them; then the agent does not
   * yield when this machine is unhealthy.
   */
  readonly network: AnnouncerNetwork | undefined;
}

/** The operations on the announced addresses. */
export type AddressAnnouncer = Pick<Announcer, 'announced' | 'test' | 'announce' | 'withdraw'>;

/**
 * - `drained`: an operator drained the gateway
 * - `unhealthy`: the machine is unhealthy, and another gateway can take over
 */
export type WithdrawalCause = 'drained' | 'unhealthy';

export interface AnnouncerStatus {
  readonly role: Role;
  /** Unix time in milliseconds of the last change of the role. */
  readonly since: number;
  /** Why the gateway is unable to become active. */
  readonly reason: string | undefined;
}

export interface AnnouncerNetwork {
  /** The links of the announced addresses, with this gateway's own addresses. */
  readonly links: readonly WatchedLink[];
  /** The address families of these links. */
  readonly families: ReadonlySet<Family>;
  /** Whether other gateways exist that could take over. */
  readonly hasPeers: boolean;
  /** A peer takes over within this time, and an active peer gives a sign within this time. */
  readonly takeoverMs: number;
  /** A number that increases while a peer is active. */
  countPeerSigns(signal: AbortSignal): Promise<bigint>;
}
