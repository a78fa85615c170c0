import type { LayoutChange, RemovedEndpoint } from '@causeway/nftables/compile/layout-change';

/** What a commit brought about. */
export interface Committed {
  /** False where there was nothing to write. */
  readonly wrote: boolean;
  readonly removedEndpoints: readonly RemovedEndpoint[];
}

/** All that the kernel is to hold. */
export type WholeLayout = Required<Omit<LayoutChange, 'remove' | 'virtualNetworks'>>;

/** The kernel's side of an apply: each change is one atomic commit. */
export interface RulesetWriter {
  /** All or nothing. Throws with the kernel as it was. */
  commit(change: LayoutChange, signal: AbortSignal): Promise<Committed>;
  /** Brings the kernel from whatever is there to exactly this. */
  replaceAll(layout: WholeLayout, signal: AbortSignal): Promise<Committed>;
}
