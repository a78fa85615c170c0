import type { Driver } from '../nftables/driver.ts';
import type { RemovedEndpoint } from '../nftables/layout-change.ts';
import { setNames } from '../nftables/names.ts';
import { Conntrack } from '../nftables/netlink/conntrack.ts';
import { NetlinkDriver } from '../nftables/netlink/netlink-driver.ts';
import { NftDriver } from '../nftables/nft-driver.ts';
import type { LayoutSettings } from '../nftables/virtual-service.ts';
import { endpointOfCounter } from './counter-key.ts';
import { EngineRuleset } from './engine-ruleset.ts';
import type { EndpointCount, KernelSetting } from './http/status.ts';
import { enforceKernelSettings, readConnections } from './kernel-settings.ts';
import type { Kernel } from './kernel.ts';
import type { EndpointId } from './model/endpoint.ts';

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export interface LinuxKernelOptions {
  readonly driver: 'netlink' | 'nft';
  readonly layout: LayoutSettings;
}

/** The kernel that this process runs on. */
export class LinuxKernel implements Kernel {
  readonly ruleset: EngineRuleset;
  readonly #driver: Driver;
  readonly #conntrack: Conntrack;
  #settings: readonly KernelSetting[] = [];
  #connections: { count: number; limit: number } | null = null;

  private constructor(driver: Driver, conntrack: Conntrack, layout: LayoutSettings) {
    this.#driver = driver;
    this.#conntrack = conntrack;
    this.ruleset = new EngineRuleset(driver, layout);
  }

  static async open({ driver, layout }: LinuxKernelOptions): Promise<LinuxKernel> {
    const { table } = layout;
    const opened =
      driver === 'netlink' ? await NetlinkDriver.open({ table }) : new NftDriver({ table });
    const kernel = new LinuxKernel(opened, await Conntrack.open(), layout);
    await kernel.look();
    return kernel;
  }

  /** Sets the kernel's settings right and counts its connections. */
  async look(): Promise<void> {
    this.#settings = await enforceKernelSettings();
    this.#connections = await readConnections();
  }

  async forgetConnections(removed: readonly RemovedEndpoint[], signal: AbortSignal): Promise<void> {
    await this.#conntrack.forget(removed, signal);
  }

  async forgetAllConnections(signal: AbortSignal): Promise<void> {
    await this.#conntrack.forgetRewritten(signal);
  }

  async *foreignChanges(signal: AbortSignal): AsyncGenerator<{ readonly what: string }> {
    // Where the kernel keeps others from our table, the only changes to hear of would be our own.
    if (this.#driver instanceof NetlinkDriver && this.#driver.isOwned) await aborted(signal);
    else yield* this.#driver.watch(signal);
  }

  async countAdverts(signal: AbortSignal): Promise<bigint> {
    let packets = 0n;
    for (const family of [4, 6] as const) {
      const counters = await this.#driver.counters(setNames.vrrpPeers(family), signal);
      for (const count of counters.values()) packets += count.packets;
    }
    return packets;
  }

  notFailoverSafe(): readonly EndpointId[] {
    return this.ruleset.notFailoverSafe();
  }

  elements(): number {
    return this.ruleset.elements;
  }

  async countConnections(signal: AbortSignal): Promise<EndpointCount[]> {
    const counts: EndpointCount[] = [];
    for (const family of [4, 6] as const) {
      const counters = await this.#driver.counters(setNames.counts(family), signal);
      for (const [id, { packets }] of counters) {
        const endpoint = endpointOfCounter(id);
        if (endpoint !== undefined) counts.push({ ...endpoint, connections: packets.toString() });
      }
    }
    return counts;
  }

  settings(): readonly KernelSetting[] {
    return this.#settings;
  }

  connections(): { count: number; limit: number } | null {
    return this.#connections;
  }

  async close(): Promise<void> {
    await this.#conntrack.close();
    await this.#driver.close();
  }
}
