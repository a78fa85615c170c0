import type { RemovedEndpoint } from '../nftables/layout-change.ts';
import type { RulesetWriter } from './apply/ruleset-writer.ts';
import type { KernelSetting } from './http/status.ts';

/** What the agent needs from the machine beside keepalived: the kernel's side of things. */
export interface Kernel {
  readonly ruleset: RulesetWriter;
  forgetConnections(removed: readonly RemovedEndpoint[], signal: AbortSignal): Promise<void>;
  /** Forgets every connection to a virtual address: its windows are out of date once a peer had it. */
  forgetAllConnections(signal: AbortSignal): Promise<void>;
  /** Changes of our table by others, until the signal fires. */
  foreignChanges(signal: AbortSignal): AsyncIterable<{ readonly what: string }>;
  /** VRRP packets of the peers that have arrived so far. */
  countAdverts(signal: AbortSignal): Promise<bigint>;
  /** Sets right what the data path relies on and looks at how full the kernel's tables are. */
  look(): Promise<void>;
  /** What was found at the last look. */
  settings(): readonly KernelSetting[];
  connections(): { count: number; limit: number } | null;
}
