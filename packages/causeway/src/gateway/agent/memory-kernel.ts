import { MemoryDriver, memoryRouting } from '@causeway/nftables/drivers/memory-driver';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
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

  countAdverts(): Promise<bigint> {
    return Promise.resolve(0n);
  }

  countForgedAdverts(): Promise<bigint> {
    return Promise.resolve(0n);
  }

  forgedAdvertSources(): Promise<readonly never[]> {
    return Promise.resolve([]);
  }

  settings(): readonly never[] {
    return [];
  }

  notFailoverSafe(): readonly FrontendId[] {
    return this.ruleset.notFailoverSafe();
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
