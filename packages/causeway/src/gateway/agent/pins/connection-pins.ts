import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { Loop } from '@causeway/base/work/supervisor';
import { WakeUp } from '@causeway/base/work/wake-up';
import type { LayoutChange } from '@causeway/nftables/compile/layout-change';
import {
  serviceKey,
  servingBackends,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import type {
  FrontendPlace,
  IndexedConnection,
} from '@causeway/nftables/conntrack/connection-index';
import type { Pin } from '@causeway/nftables/pins/pin';
import { SlotLookup } from '@causeway/nftables/pins/slot-lookup';
import { gatewayMetrics } from '../metric-definitions.ts';
import type { Kernel } from '../kernel.ts';
import type { FrontendId } from '../../protocol/frontend.ts';
import type { PinCursor, PinDelta } from '../../protocol/pins.ts';
import type { Role } from '../../protocol/role.ts';
import { PinTable, type PinLimits } from './pin-table.ts';
import { RunningConnections } from './running-connections.ts';

export interface ConnectionPinsOptions {
  readonly kernel: Pick<Kernel, 'layout' | 'pinned' | 'followConnections' | 'listConnections'>;
  readonly limits: PinLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  role(): Role;
}

/** Connections that are compared with their slots before the event loop runs. */
const comparedAtOnce = 2_000;
const renewEveryMs = 60_000;
const retryMs = 1_000;
/** A controller collects the pins every two seconds. */
const collectedWithinMs = 10_000;

/**
 * Pins the running TCP connections whose slot leads to another backend than theirs, or whose backend has two
 * frontends. Holds the pins of the other gateways. docs/nftables.md describes the protocol.
 */
export class ConnectionPins {
  readonly #options: ConnectionPinsOptions;
  readonly #lookup: SlotLookup;
  readonly #comparisons = new SerialQueue();
  readonly #writes = new SerialQueue();
  readonly #writeDue = new WakeUp();
  readonly #table: PinTable;
  readonly #running: RunningConnections;
  readonly #gauge;
  readonly epoch = randomUUID();
  #collectedAt = Number.NEGATIVE_INFINITY;
  /** The last write failed. */
  #isUnwritten = false;

  constructor(options: ConnectionPinsOptions) {
    const { kernel, limits, clock, metrics } = options;
    this.#options = options;
    this.#lookup = new SlotLookup(kernel.layout.hashSeed);
    this.#table = new PinTable(this.epoch, limits, clock);
    this.#gauge = metrics.gauge(gatewayMetrics.pins);
    this.#running = new RunningConnections({
      ...options,
      onBegin: (place, connection) => this.#began(place, connection),
      onEnd: (connection) => this.#ended(connection),
      onListed: () => this.#compareInBackground(this.#running.frontends()),
    });
    kernel.pinned.follow({
      loaded: (pins) => this.#table.restore(pins),
      changing: ({ set = [] }) => this.#running.watchAddresses(set.map(({ address }) => address)),
      changed: ({ set = [], nodes }) =>
        this.#compareInBackground(
          nodes === undefined ? this.#withSharing(set) : this.#running.frontends(),
        ),
    });
  }

  /** The number of pins. */
  get size(): number {
    return this.#table.size;
  }

  /** Whether a controller hands the pins over to other gateways. A standby gateway has none to hand over. */
  areHandedOver(): boolean {
    const age = this.#options.clock.monotonic() - this.#collectedAt;
    return this.#options.role() === 'standby' || age < collectedWithinMs;
  }

  /** Frontends with more connections that need pins than the limits allow. */
  full(): readonly FrontendId[] {
    return [...this.#table.full];
  }

  loops(): Record<string, Loop> {
    return {
      ...this.#running.loops(),
      pins: (signal) => this.#writeWhenDue(signal),
      'pin renewal': (signal) => this.#renew(signal),
    };
  }

  /** The gateway is no longer active: another one reports the end of its connections. */
  leftActiveRole(): void {
    this.#table.disown();
  }

  /** Pins the connections that this change would move, before it is applied. Returns their frontends. */
  async prepare(
    { set = [], nodes }: LayoutChange,
    signal: AbortSignal,
  ): Promise<readonly FrontendId[]> {
    const { pinned } = this.#options.kernel;
    const changed = new Map(set.map((service) => [serviceKey(service), service]));
    const moved = await this.#compare(
      nodes === undefined ? set : this.#running.frontends(),
      (key) => changed.get(key) ?? pinned.services.get(key),
      nodes ?? pinned.nodes,
    );
    await this.#write(signal);
    return moved;
  }

  /** The changes of this gateway's pins since the cursor. */
  async since(cursor: PinCursor | undefined): Promise<PinDelta> {
    this.#collectedAt = this.#options.clock.monotonic();
    await this.#comparisons.idle();
    return this.#table.since(cursor, this.#options.role() === 'foreign');
  }

  /** Takes the pins of another gateway. Resolves when the kernel has them. */
  async take(set: readonly Pin[], removed: readonly Pin[], signal: AbortSignal): Promise<void> {
    for (const pin of removed) this.#table.remove(pin, false);
    for (const pin of set) this.#table.take(pin);
    await this.#write(signal);
  }

  #compareInBackground(frontends: Iterable<FrontendPlace>): void {
    const { pinned } = this.#options.kernel;
    this.#compare(frontends, (key) => pinned.services.get(key), pinned.nodes).then(
      () => this.#writeDue.call(),
      (error: unknown) => {
        const problem = { error: CausewayError.from(error) };
        this.#options.log.error(problem, 'moved connections may have no pins');
      },
    );
  }

  /** Pins moved connections, and returns their frontends. */
  #compare(
    frontends: Iterable<FrontendPlace>,
    serviceOf: (key: ServiceKey) => VirtualService | undefined,
    nodes: readonly Address[],
  ): Promise<readonly FrontendId[]> {
    return this.#comparisons.run(() => this.#compareNow(frontends, serviceOf, nodes));
  }

  async #compareNow(
    frontends: Iterable<FrontendPlace>,
    serviceOf: (key: ServiceKey) => VirtualService | undefined,
    nodes: readonly Address[],
  ): Promise<readonly FrontendId[]> {
    const moved = new Set<VirtualService>();
    let compared = 0;
    for (const { address, port } of [...frontends]) {
      const service = serviceOf(serviceKey({ address, port, protocol: 'TCP' }));
      if (service === undefined) continue;
      for (const connection of this.#running.connectionsOf(service)) {
        if (this.#pinIfNeeded(connection, service, nodes)) moved.add(service);
        compared += 1;
        if (compared % comparedAtOnce === 0) await setImmediate();
      }
    }
    return [...moved];
  }

  /** The services, and all others that have a backend in common with them. */
  #withSharing(services: readonly VirtualService[]): Iterable<FrontendPlace> {
    const { pinned } = this.#options.kernel;
    const all = new Map(services.map((service) => [serviceKey(service), service]));
    for (const service of services) {
      if (service.protocol !== 'TCP') continue;
      for (const key of servingBackends(service).flatMap((each) => pinned.servicesSharing(each))) {
        const other = pinned.services.get(key);
        if (other !== undefined) all.set(key, other);
      }
    }
    return all.values();
  }

  /** A connection needs a pin if its slot has moved, or if its backend has another frontend too. */
  #pinIfNeeded(
    connection: IndexedConnection,
    service: VirtualService,
    nodes: readonly Address[],
  ): boolean {
    if (this.#isMoved(connection, service, nodes)) {
      this.#table.own(connection.toPin());
      return true;
    }
    if (this.#options.kernel.pinned.servicesSharing(connection.backend).length < 2) return false;
    this.#table.ownIfRoom(connection.toPin());
    return true;
  }

  #isMoved(
    { client, backend }: IndexedConnection,
    service: VirtualService,
    nodes: readonly Address[],
  ): boolean {
    const slot = this.#lookup.backendOf(service, nodes, client);
    return slot?.address !== backend.address || slot.port !== backend.port;
  }

  #began({ address, port }: FrontendPlace, connection: IndexedConnection): void {
    const { services, nodes } = this.#options.kernel.pinned;
    const service = services.get(serviceKey({ address, port, protocol: 'TCP' }));
    if (service === undefined) return;
    // The client may use the port of an earlier connection again, whose pin is then wrong.
    if (!this.#pinIfNeeded(connection, service, nodes)) {
      this.#table.remove(connection.toPin(), true);
    }
    this.#writeDue.call();
  }

  #ended(connection: IndexedConnection): void {
    const role = this.#options.role();
    // A gateway that is not active deletes its entries, and the connections continue on another one.
    if (role !== 'active' && role !== 'foreign') return;
    this.#table.remove(connection.toPin(), true);
    this.#writeDue.call();
  }

  async #writeWhenDue(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      await this.#writeDue.next(signal);
      if (signal.aborted) return;
      try {
        await this.#write(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ error: CausewayError.from(error) }, "can't write the pins");
        await sleep(clock, retryMs, signal);
        this.#writeDue.call();
      }
    }
  }

  /** Resolves when the kernel has all pins of the table. */
  #write(signal: AbortSignal): Promise<void> {
    return this.#writes.run(async () => {
      const pending = this.#table.takePending();
      this.#gauge.set({}, this.#table.size);
      if (pending.set.length === 0 && pending.remove.length === 0 && !this.#isUnwritten) return;
      this.#isUnwritten = true;
      await this.#options.kernel.pinned.writePins(pending, signal);
      this.#isUnwritten = false;
    });
  }

  async #renew(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#options.clock, renewEveryMs, signal);
      this.#table.renew((pin) => this.#running.has(pin));
      this.#writeDue.call();
    }
  }
}
