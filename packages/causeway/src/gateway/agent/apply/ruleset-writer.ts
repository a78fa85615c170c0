import type { LayoutChange, Removed } from '@causeway/nftables/compile/layout-change';

/** The result of a commit. */
export interface Committed {
  /** False if there was nothing to write. */
  readonly wrote: boolean;
  readonly removedBackends: readonly Removed[];
}

/** The complete desired contents of the kernel. */
export type WholeLayout = Required<
  Omit<LayoutChange, 'remove' | 'policyEdits' | 'podEdits' | 'virtualNetworks'>
>;

/** The kernel's side of an apply: each change is one atomic commit. */
export interface RulesetWriter {
  /** Applies everything or nothing. If it throws, the kernel is unchanged. */
  commit(change: LayoutChange, signal: AbortSignal): Promise<Committed>;
  /** Whether the kernel has rules of this agent, from this process or an earlier one. */
  isPresent(signal: AbortSignal): Promise<boolean>;
  /** Brings the kernel from any contents to exactly this layout. */
  replaceAll(layout: WholeLayout, signal: AbortSignal): Promise<Committed>;
}
