import type { Address } from '@causeway/base/address/address';
import type {
  Driver,
  ElementCount as CountedPackets,
  ForeignChange,
} from '@causeway/nftables/drivers/driver';
import type { LayoutChange } from '@causeway/nftables/compile/layout-change';
import { LayoutWriter } from '@causeway/nftables/compile/layout-writer';
import { RoutedWriter, type RoutingMachine } from '@causeway/nftables/compile/routed-writer';
import { TableWatch } from '@causeway/nftables/drivers/table-watch';
import {
  serviceKey,
  type Backend,
  type LayoutSettings,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import { KernelPins, type PinChange } from '@causeway/nftables/pins/kernel-pins';
import { pinTimeoutMs } from './pins/pin-limits.ts';
import type { LayoutListener, PinnedRuleset } from './pins/pinned-ruleset.ts';
import { ElementCount } from './element-count.ts';
import type { FrontendId } from '../protocol/frontend.ts';
import type { Committed, RulesetWriter, WholeLayout } from './apply/ruleset-writer.ts';

/** The agent removes a pin before the kernel does, so that both know the same pins. */
const graceSeconds = 3_600;

/**
 * Writes the kernel's rules with the nftables engine: plans the desired layout as data, then commits it
 * atomically.
 */
export class EngineRuleset implements RulesetWriter, PinnedRuleset {
  readonly #driver: Driver;
  readonly #writer: LayoutWriter;
  readonly #routed: RoutedWriter;
  readonly #watch = new TableWatch();
  readonly #pins: KernelPins;
  #hasPins = false;
  #listener: LayoutListener | undefined;
  #count = new ElementCount();

  constructor(driver: Driver, settings: LayoutSettings, machine: RoutingMachine) {
    this.#driver = driver;
    this.#writer = new LayoutWriter(driver, settings);
    this.#pins = new KernelPins(driver, pinTimeoutMs / 1000 + graceSeconds);
    this.#routed = new RoutedWriter(machine, settings, (table) => this.#watch.listen(table));
  }

  async commit(change: LayoutChange, signal: AbortSignal): Promise<Committed> {
    this.#listener?.changing(change);
    const { operations, ...committed } = await this.#writer.commit(change, signal);
    this.#listener?.changed(change);
    this.#count.committed(operations);
    const wrote = await this.#writeRouted(() => this.#routed.commit(change, signal));
    return { ...committed, wrote: committed.wrote || wrote };
  }

  async isPresent(signal: AbortSignal): Promise<boolean> {
    return (await this.#driver.read(signal)) !== undefined;
  }

  /** Reads the rules that an earlier process left, once, and writes only the differences. */
  async replaceAll({ set, ...parts }: WholeLayout, signal: AbortSignal): Promise<Committed> {
    const whole = { services: set, ...parts };
    await this.#watch.listen(this.#driver);
    this.#listener?.changing({ set });
    const { operations, ...committed } = await this.#writer.replaceAll(whole, signal);
    await this.#restorePins(signal);
    this.#listener?.changed({ set, nodes: parts.nodes });
    this.#count = new ElementCount();
    this.#count.committed(operations);
    const wrote = await this.#writeRouted(() => this.#routed.replaceAll(set, parts.nodes, signal));
    return { ...committed, wrote: committed.wrote || wrote };
  }

  /** The kernel keeps pins while no agent runs. A table that was written anew has none. */
  async #restorePins(signal: AbortSignal): Promise<void> {
    if (this.#hasPins) {
      await this.#pins.rewrite(signal);
      return;
    }
    const found = await this.#pins.load(signal);
    this.#hasPins = true;
    this.#listener?.loaded(found);
  }

  get services(): ReadonlyMap<ServiceKey, VirtualService> {
    return this.#writer.layout?.services ?? new Map();
  }

  get nodes(): readonly Address[] {
    return this.#writer.layout?.nodes ?? [];
  }

  servicesSharing(backend: Backend): readonly ServiceKey[] {
    return this.#writer.layout?.servicesSharing(backend) ?? [];
  }

  follow(listener: LayoutListener): void {
    this.#listener = listener;
  }

  writePins(change: PinChange, signal: AbortSignal): Promise<void> {
    return this.#pins.apply(change, signal);
  }

  /** Changes of any of our tables by others, until the signal fires. */
  foreignChanges(signal: AbortSignal): AsyncIterable<ForeignChange> {
    return this.#watch.until(signal);
  }

  /**
   * Whether packets are sent to nodes unchanged. Replies then have one of this gateway's own addresses as
   * source.
   */
  get isRouting(): boolean {
    return this.#routed.isInUse;
  }

  /** Packet counts of services with unchanged packets. */
  routedCounts(signal: AbortSignal): Promise<ReadonlyMap<string, CountedPackets>> {
    return this.#routed.counts(signal);
  }

  /** Tables may have been created or deleted even if the write fails. */
  async #writeRouted(write: () => Promise<boolean>): Promise<boolean> {
    try {
      return await write();
    } finally {
      this.#watch.setTables([this.#driver, ...this.#routed.drivers()]);
    }
  }

  close(): Promise<void> {
    this.#watch.close();
    return this.#routed.close();
  }

  serves(frontend: FrontendId): boolean {
    return this.#writer.layout?.services.has(serviceKey(frontend)) === true;
  }

  /** The addresses that clients connect to. */
  virtualAddresses(): Set<Address> {
    const services = this.#writer.layout?.services.values() ?? [];
    return new Set([...services].map(({ address }) => address));
  }

  /** Number of elements in the table. */
  get elements(): number {
    return this.#count.total;
  }

  /** Frontends with a backend that another frontend also has. */
  sharedFrontends(): FrontendId[] {
    const keys = new Set(
      this.#writer.layout?.ambiguousBackends().flatMap(({ services }) => services) ?? [],
    );
    const shared: FrontendId[] = [];
    for (const key of keys) {
      const service = this.#writer.layout?.services.get(key);
      if (service !== undefined) shared.push(service);
    }
    return shared;
  }
}
