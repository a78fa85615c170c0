import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Loop } from '@causeway/base/work/supervisor';
import { WakeUp } from '@causeway/base/work/wake-up';
import {
  ConnectionIndex,
  type FrontendPlace,
  type IndexedConnection,
} from '@causeway/nftables/conntrack/connection-index';
import type { Tracked } from '@causeway/nftables/conntrack/tracked-connection';
import type { Pin } from '@causeway/nftables/pins/pin';
import type { Kernel } from '../kernel.ts';

export interface RunningConnectionsOptions {
  readonly kernel: Pick<Kernel, 'followConnections' | 'listConnections'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each connection that begins, also on another gateway before. */
  onBegin(place: FrontendPlace, connection: IndexedConnection): void;
  onEnd(connection: IndexedConnection): void;
  /** Called after all connections were listed. */
  onListed(): void;
}

/** Some kernels report no end of a connection that began while no process listened. */
const listAgainMs = 15 * 60_000;
const retryMs = 5_000;

/** Keeps the index of the running connections up to date. */
export class RunningConnections {
  readonly #options: RunningConnectionsOptions;
  readonly #listDue = new WakeUp();
  readonly #addresses = new Set<Address>();
  #index = new ConnectionIndex();
  /** While connections are listed: the next index, and the connections that end in the meantime. */
  #listing: { readonly index: ConnectionIndex; readonly ended: Set<string> } | undefined;

  constructor(options: RunningConnectionsOptions) {
    this.#options = options;
  }

  /** Connections to these addresses are indexed from now on. */
  watchAddresses(addresses: Iterable<Address>): void {
    for (const address of addresses) this.#addresses.add(address);
    this.#index.watchAddresses(this.#addresses);
    this.#listing?.index.watchAddresses(this.#addresses);
  }

  frontends(): Iterable<FrontendPlace> {
    return this.#index.frontends();
  }

  connectionsOf(place: FrontendPlace): Iterable<IndexedConnection> {
    return this.#index.connectionsOf(place);
  }

  has(pin: Pin): boolean {
    return this.#index.has(pin);
  }

  loops(): Record<string, Loop> {
    return {
      connections: (signal) => this.#follow(signal),
      'connection listing': (signal) => this.#listAtIntervals(signal),
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { kernel, clock, log } = this.#options;
    const listener = {
      onListening: () => this.#listDue.call(),
      onLoss: () => this.#listDue.call(),
      began: (tracked: Tracked) => this.#began(tracked),
      ended: (tracked: Tracked) => this.#ended(tracked),
    };
    while (!signal.aborted) {
      try {
        await kernel.followConnections(listener, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ error: CausewayError.from(error) }, "can't follow the connections");
        await sleep(clock, retryMs, signal);
      }
    }
  }

  async #listAtIntervals(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      const timer = clock.timer(listAgainMs, () => this.#listDue.call());
      await this.#listDue.next(signal);
      timer.cancel();
      if (signal.aborted) return;
      try {
        await this.#list(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ error: CausewayError.from(error) }, "can't list the connections");
        await sleep(clock, retryMs, signal);
        this.#listDue.call();
      } finally {
        this.#listing = undefined;
      }
    }
  }

  /** Builds the index anew. Events go into the old and the new one. */
  async #list(signal: AbortSignal): Promise<void> {
    const { kernel } = this.#options;
    const listing = { index: new ConnectionIndex(), ended: new Set<string>() };
    listing.index.watchAddresses(this.#addresses);
    this.#listing = listing;
    await kernel.listConnections((tracked) => {
      if (!listing.ended.has(endKey(tracked))) listing.index.add(tracked);
    }, signal);
    this.#index = listing.index;
    this.#options.onListed();
  }

  #began(tracked: Tracked): void {
    this.#listing?.index.add(tracked);
    const added = this.#index.add(tracked);
    if (added !== undefined) this.#options.onBegin(added.frontend, added.connection);
  }

  #ended(tracked: Tracked): void {
    this.#listing?.ended.add(endKey(tracked));
    this.#listing?.index.remove(tracked);
    const connection = this.#index.remove(tracked);
    if (connection !== undefined) this.#options.onEnd(connection);
  }
}

/** Identifies one entry of conntrack, also if a later one has the same addresses and ports. */
function endKey({ original, rawId }: Tracked): string {
  return `${rawId?.toString('latin1')} ${original.source} ${original.sourcePort}`;
}
