import type { ElementCount } from '@causeway/nftables/drivers/driver';
import type { KernelSetting } from '@causeway/netlink/kernel-settings';
import type { Removed } from '@causeway/nftables/compile/layout-change';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { RulesetWriter } from './apply/ruleset-writer.ts';
import type { ConnectionListener } from '@causeway/nftables/conntrack/connection-feed';
import type { Tracked } from '@causeway/nftables/conntrack/tracked-connection';
import type { PinnedRuleset } from './pins/pinned-ruleset.ts';
import type { FrontendCount } from '../protocol/agent-status.ts';
import type { FrontendId } from '../protocol/frontend.ts';

/** Counts of a frontend, from the rules' counters. */
export type ConnectionCount = FrontendId & Pick<FrontendCount, 'connections' | 'packets'>;

/** The kernel interface of the agent. The announcer is not part of it. */
export interface Kernel {
  /** The settings that are the same for all rules. */
  readonly layout: LayoutSettings;
  readonly ruleset: RulesetWriter;
  deleteConnections(removed: readonly Removed[], signal: AbortSignal): Promise<void>;
  /** Deletes conntrack entries of these services that lead to none of their backends. */
  deleteStaleEntries(services: readonly VirtualService[], signal: AbortSignal): Promise<void>;
  /**
   * Deletes every connection to a virtual address from conntrack: its TCP windows are out of date after a
   * peer had it.
   */
  deleteAllConnections(signal: AbortSignal): Promise<void>;
  /** Changes of the agent's tables by other programs, until the signal fires. */
  foreignChanges(signal: AbortSignal): AsyncIterable<{ readonly what: string }>;
  /** The packets and bytes that a set of the agent's table has counted, by element. */
  counters(set: string, signal: AbortSignal): Promise<ReadonlyMap<string, ElementCount>>;
  /** Corrects the kernel settings that the data path needs, and reads the fill of the kernel's tables. */
  check(): Promise<void>;
  /** The settings found at the last check. */
  settings(): readonly KernelSetting[];
  /** Frontends with a backend that another frontend also has. Their connections need pins in a failover. */
  sharedFrontends(): readonly FrontendId[];
  /** Number of elements in the agent's table. */
  elements(): number;
  /** Number of connections of each frontend. */
  countConnections(signal: AbortSignal): Promise<readonly ConnectionCount[]>;
  /** The layout and the pins in the kernel. */
  readonly pinned: PinnedRuleset;
  /** Reports the beginning and the end of TCP connections, until the signal fires. */
  followConnections(listener: ConnectionListener, signal: AbortSignal): Promise<void>;
  /** Passes all TCP connections to the visitor. */
  listConnections(visit: (connection: Tracked) => void, signal: AbortSignal): Promise<void>;
  connections(): { count: number; limit: number } | null;
}
