import type { ElementCount } from '@causeway/nftables/drivers/driver';
import { MemoryDriver, memoryRouting } from '@causeway/nftables/drivers/memory-driver';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { ConnectionListener } from '@causeway/nftables/conntrack/connection-feed';
import type { PinnedRuleset } from './pins/pinned-ruleset.ts';
import { EngineRuleset } from './engine-ruleset.ts';
import type { Kernel } from './kernel.ts';
import type { FrontendId } from '../protocol/frontend.ts';

/** Computes and keeps rules like the kernel, without packets. */
export class MemoryKernel implements Kernel {
  readonly layout: LayoutSettings;
  readonly ruleset: EngineRuleset;
  readonly #driver: MemoryDriver;

  constructor(layout: LayoutSettings) {
    this.layout = layout;
    this.#driver = new MemoryDriver(layout.table);
    this.ruleset = new EngineRuleset(this.#driver, layout, memoryRouting(layout.table));
  }

  async deleteConnections(): Promise<void> {}
  async deleteStaleEntries(): Promise<void> {}
  async deleteAllConnections(): Promise<void> {}
  async check(): Promise<void> {}

  foreignChanges(signal: AbortSignal): AsyncIterable<{ readonly what: string }> {
    return this.ruleset.foreignChanges(signal);
  }

  counters(set: string, signal: AbortSignal): Promise<ReadonlyMap<string, ElementCount>> {
    return this.#driver.counters(set, signal);
  }

  get pinned(): PinnedRuleset {
    return this.ruleset;
  }

  followConnections(_listener: ConnectionListener, signal: AbortSignal): Promise<void> {
    return whenAborted(signal);
  }

  // biome-ignore lint/suspicious/useAwait: a list without entries
  listConnections(): Promise<void> {
    return Promise.resolve();
  }

  settings(): readonly never[] {
    return [];
  }

  sharedFrontends(): readonly FrontendId[] {
    return this.ruleset.sharedFrontends();
  }

  elements(): number {
    return this.ruleset.elements;
  }

  countConnections(): Promise<readonly never[]> {
    return Promise.resolve([]);
  }

  connections(): null {
    return null;
  }

  async close(): Promise<void> {
    await this.ruleset.close();
    await this.#driver.close();
  }
}
