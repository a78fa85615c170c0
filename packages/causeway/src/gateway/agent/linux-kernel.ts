import type { Driver, ElementCount } from '@causeway/nftables/drivers/driver';
import {
  enforceKernelSettings,
  readConnections,
  settingsIn,
  type KernelSetting,
  type MachineSettings,
} from '@causeway/netlink/kernel-settings';
import type { Removed } from '@causeway/nftables/compile/layout-change';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import { setNames } from '@causeway/nftables/model/names';
import { Conntrack } from '@causeway/nftables/conntrack/conntrack';
import { NetlinkDriver } from '@causeway/nftables/drivers/netlink/netlink-driver';
import { NftDriver } from '@causeway/nftables/drivers/nft-driver';
import { routedTable } from '@causeway/nftables/compile/routed-ruleset';
import type { TableFamily } from '@causeway/nftables/model/ruleset';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import {
  followConnections,
  listConnections,
  type ConnectionListener,
} from '@causeway/nftables/conntrack/connection-feed';
import type { Tracked } from '@causeway/nftables/conntrack/tracked-connection';
import type { PinnedRuleset } from './pins/pinned-ruleset.ts';
import { frontendCounts } from './frontend-counts.ts';
import { EngineRuleset } from './engine-ruleset.ts';
import type { ConnectionCount, Kernel } from './kernel.ts';
import type { FrontendId } from '../protocol/frontend.ts';

async function openDriver(
  driver: LinuxKernelOptions['driver'],
  table: string,
  family: TableFamily,
): Promise<Driver> {
  const options = { table, family };
  return driver === 'netlink' ? NetlinkDriver.open(options) : new NftDriver(options);
}

/** Removes all rules that an agent has written under a table's name. */
export async function removeTables(
  kind: LinuxKernelOptions['driver'],
  table: string,
  signal: AbortSignal,
): Promise<void> {
  const all = [
    [routedTable(table, 4), 'ip'],
    [routedTable(table, 6), 'ip6'],
    [table, 'inet'],
  ] as const;
  for (const [name, family] of all) {
    const driver = await openDriver(kind, name, family);
    try {
      await driver.apply({ table: name, operations: [{ op: 'remove-table' }] }, signal);
    } finally {
      await driver.close();
    }
  }
}

export interface LinuxKernelOptions {
  readonly driver: 'netlink' | 'nft';
  readonly layout: LayoutSettings;
  /** The links to clients and to nodes, if they are known. */
  readonly links: { readonly external?: string; readonly internal?: string };
  /** Directory of the kernel's settings. */
  readonly settingsDirectory: string;
}

/** The kernel that this process runs on. */
export class LinuxKernel implements Kernel {
  readonly layout: LayoutSettings;
  readonly ruleset: EngineRuleset;
  readonly #driver: Driver;
  readonly #conntrack: Conntrack;
  readonly #links: LinuxKernelOptions['links'];
  readonly #files: MachineSettings;
  #settings: readonly KernelSetting[] = [];
  #connections: { count: number; limit: number } | null = null;

  private constructor(driver: Driver, conntrack: Conntrack, options: LinuxKernelOptions) {
    this.#driver = driver;
    this.#conntrack = conntrack;
    const { layout } = options;
    this.layout = layout;
    this.#links = options.links;
    this.#files = settingsIn(options.settingsDirectory);
    this.ruleset = new EngineRuleset(driver, layout, {
      open: (family) =>
        openDriver(options.driver, routedTable(layout.table, family), family === 4 ? 'ip' : 'ip6'),
      prepare: () => this.#enforce(true),
    });
  }

  static async open(options: LinuxKernelOptions): Promise<LinuxKernel> {
    const opened = await openDriver(options.driver, options.layout.table, 'inet');
    const kernel = new LinuxKernel(opened, await Conntrack.open(), options);
    await kernel.check();
    return kernel;
  }

  /** Corrects the kernel's settings and counts its connections. */
  async check(): Promise<void> {
    await this.#enforce(this.ruleset.isRouting);
    this.#connections = await readConnections(this.#files);
  }

  async #enforce(isRouting: boolean): Promise<void> {
    const { external, internal } = this.#links;
    const needs = {
      interfaces: [external, internal].filter((link) => link !== undefined),
      resumesConnections: true,
      routesBy: isRouting ? internal : undefined,
    };
    this.#settings = await enforceKernelSettings(needs, this.#files);
  }

  async deleteConnections(removed: readonly Removed[], signal: AbortSignal): Promise<void> {
    // A removed service may exist again by now, with new connections.
    const gone = removed.filter(
      ({ service }) => service === undefined || !this.ruleset.serves(service),
    );
    const hasNodes = gone.some(({ service, backend }) => (service ?? backend) === undefined);
    const virtual = hasNodes ? this.ruleset.virtualAddresses() : undefined;
    await this.#conntrack.deleteConnections(gone, signal, virtual);
  }

  async deleteStaleEntries(
    services: readonly VirtualService[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#conntrack.deleteStaleEntries(services, signal);
  }

  async deleteAllConnections(signal: AbortSignal): Promise<void> {
    await this.#conntrack.deleteRewritten(this.ruleset.virtualAddresses(), signal);
  }

  foreignChanges(signal: AbortSignal): AsyncIterable<{ readonly what: string }> {
    return this.ruleset.foreignChanges(signal);
  }

  counters(set: string, signal: AbortSignal): Promise<ReadonlyMap<string, ElementCount>> {
    return this.#driver.counters(set, signal);
  }

  sharedFrontends(): readonly FrontendId[] {
    return this.ruleset.sharedFrontends();
  }

  elements(): number {
    return this.ruleset.elements;
  }

  async countConnections(signal: AbortSignal): Promise<ConnectionCount[]> {
    const tracked = new Map<string, ElementCount>();
    for (const family of [4, 6] as const) {
      const counters = await this.#driver.counters(setNames.counts(family), signal);
      for (const [id, count] of counters) tracked.set(id, count);
    }
    return frontendCounts(tracked, await this.ruleset.routedCounts(signal));
  }

  get pinned(): PinnedRuleset {
    return this.ruleset;
  }

  followConnections(listener: ConnectionListener, signal: AbortSignal): Promise<void> {
    return followConnections(listener, signal);
  }

  listConnections(visit: (connection: Tracked) => void, signal: AbortSignal): Promise<void> {
    return listConnections(visit, signal);
  }

  settings(): readonly KernelSetting[] {
    return this.#settings;
  }

  connections(): { count: number; limit: number } | null {
    return this.#connections;
  }

  async close(): Promise<void> {
    await this.#conntrack.close();
    await this.ruleset.close();
    await this.#driver.close();
  }
}
