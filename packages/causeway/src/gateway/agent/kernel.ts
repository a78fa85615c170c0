import type { Address } from '@causeway/base/address/address';
import type { KernelSetting } from '@causeway/netlink/kernel-settings';
import type { RemovedEndpoint } from '@causeway/nftables/compile/layout-change';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { RulesetWriter } from './apply/ruleset-writer.ts';
import type { EndpointCount } from '../protocol/agent-status.ts';
import type { EndpointId } from '../protocol/endpoint.ts';

/** What came to an endpoint, as the rules have counted it. */
export type ConnectionCount = EndpointId & Pick<EndpointCount, 'connections' | 'packets'>;

/** What the agent needs from the machine beside keepalived: the kernel's side of things. */
export interface Kernel {
  /** What is the same for all rules. */
  readonly layout: LayoutSettings;
  readonly ruleset: RulesetWriter;
  forgetConnections(removed: readonly RemovedEndpoint[], signal: AbortSignal): Promise<void>;
  /** Forgets flows to these services that lead to none of their endpoints. */
  deleteStaleEntries(services: readonly VirtualService[], signal: AbortSignal): Promise<void>;
  /** Forgets every connection to a virtual address: its windows are out of date once a peer had it. */
  forgetAllConnections(signal: AbortSignal): Promise<void>;
  /** Changes of our tables by others, until the signal fires. */
  foreignChanges(signal: AbortSignal): AsyncIterable<{ readonly what: string }>;
  /** VRRP packets of the peers that have arrived so far. */
  countAdverts(signal: AbortSignal): Promise<bigint>;
  /** VRRP packets with a router id of this gateway that were dropped because no peer sent them. */
  countForgedAdverts(signal: AbortSignal): Promise<bigint>;
  /** The sources that those of the last minute claimed to come from. */
  forgedAdvertSources(signal: AbortSignal): Promise<readonly Address[]>;
  /** Sets right what the data path relies on and looks at how full the kernel's tables are. */
  check(): Promise<void>;
  /** What was found at the last look. */
  settings(): readonly KernelSetting[];
  /** Endpoints whose running connections may not survive a move to another gateway. */
  notFailoverSafe(): readonly EndpointId[];
  /** How many elements our table holds. */
  elements(): number;
  /** How many connections each endpoint has had. */
  countConnections(signal: AbortSignal): Promise<readonly ConnectionCount[]>;
  connections(): { count: number; limit: number } | null;
}
