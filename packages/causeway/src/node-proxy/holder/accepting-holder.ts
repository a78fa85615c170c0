import net from 'node:net';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, type Port } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { listen } from '@causeway/base/network/listen';
import { clusterAddresses } from '../cluster-addresses.ts';
import { listenPlace } from '../listen-place.ts';
import { holdingOf, portId, type ServedService } from '../served-service.ts';
import { acceptedConnections } from './metric-definitions.ts';
import { dial, relay, type Destination } from './relay.ts';

export interface AcceptingHolderOptions {
  readonly perService: number;
  readonly inAll: number;
  readonly holdMs: number;
  /** How long connections may continue after the proxy was asked to end. */
  readonly drainMs: number;
  /** False if the kernel can't protect the listeners from other connections. */
  readonly canAccept: boolean;
  readonly needPods: (service: string, port: string, isFirst: boolean) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Place {
  readonly servers: readonly net.Server[];
  /** The listeners by `portId`, once all are open. */
  readonly opened: Promise<ReadonlyMap<string, Port>>;
  readonly waiting: Set<Waiting>;
  connections: number;
  /** Address that connections are forwarded to. */
  readonly address: string;
  /** The ports that the kernel serves at the address, by `portId`. Other ports would lead back here. */
  served: ReadonlySet<string>;
  isHeld: boolean;
}

interface Waiting {
  readonly socket: net.Socket;
  /** `portId`. */
  readonly port: string;
  readonly destination: Destination;
  readonly stop: AbortController;
}

type Outcome = 'accepted' | 'relayed' | 'full' | 'gave-up' | 'expired' | 'unreachable';

/** Connections that were redirected right before the switch are still accepted for this time. */
const lingerMs = 2_000;
const complainEveryMs = 10_000;

/**
 * For clients that can't wait for a connection: accepts at once, waits for a pod, then forwards the bytes.
 * Disadvantage: the pod and network policies see this node's address.
 */
export class AcceptingHolder {
  readonly #options: AcceptingHolderOptions;
  readonly #places = new Map<string, Place>();
  readonly #counter;
  readonly #open = new Set<net.Socket>();
  /** Services for which the log says that their connections can't be accepted. */
  readonly #refused = new Set<string>();
  #complainedAt = -Infinity;

  constructor(options: AcceptingHolderOptions) {
    this.#options = options;
    this.#counter = options.metrics.counter(acceptedConnections);
  }

  waiting(service: string): number {
    return this.#places.get(service)?.waiting.size ?? 0;
  }

  /**
   * Opens the listeners of a Service, or finds the open ones, by `portId`. Undefined if connections can't be
   * accepted.
   */
  async listen(service: Service): Promise<ReadonlyMap<string, Port> | undefined> {
    const key = keyOf(service);
    const ports = tcpPorts(service);
    if (!this.#options.canAccept) this.#refuse(key);
    if (!this.#options.canAccept || ports.length === 0) return undefined;
    const [address = ''] = clusterAddresses(service);
    const known = this.#places.get(key);
    // A different Service of the same name: clients of the previous one can't be served.
    if (known !== undefined && known.address !== address) this.#giveUp(key, known);
    const place = this.#places.get(key) ?? this.#makePlace(key, ports, address);
    try {
      return await place.opened;
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      this.#options.log.error({ service: key, error }, 'no listener: first packets are parked');
      this.#close(key, place);
      return undefined;
    }
  }

  #refuse(service: string): void {
    if (this.#refused.has(service)) return;
    this.#refused.add(service);
    const hint = 'It needs the kernel module nft_socket.';
    this.#options.log.warn(
      { service, hint },
      'this kernel does not support accepting connections for Services; they are parked',
    );
  }

  #makePlace(key: string, ports: readonly number[], address: string): Place {
    const servers = ports.map((port) => {
      const options = { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 15_000 };
      const server = net.createServer(options, (socket) =>
        this.#accept(key, portId('TCP', port), { address, port }, socket),
      );
      server.on('error', (error) => this.#notAccepted(key, error));
      return server;
    });
    const place: Place = {
      servers,
      opened: openAll(servers, ports),
      waiting: new Set(),
      connections: 0,
      address,
      served: new Set(),
      isHeld: true,
    };
    this.#places.set(key, place);
    return place;
  }

  /**
   * For example, no file descriptors are left: new connections are refused, established ones continue. The
   * log is rate limited.
   */
  #notAccepted(service: string, error: Error): void {
    const { clock, log } = this.#options;
    this.#count('full');
    const now = clock.monotonic();
    if (now - this.#complainedAt < complainEveryMs) return;
    this.#complainedAt = now;
    log.warn({ service, error }, 'connections could not be accepted');
  }

  #accept(service: string, port: string, destination: Destination, socket: net.Socket): void {
    const { perService, inAll, needPods } = this.#options;
    const place = this.#places.get(service);
    socket.on('error', () => socket.destroy());
    if (place === undefined || place.connections >= perService || this.#open.size >= inAll) {
      this.#count('full');
      socket.resetAndDestroy();
      if (place?.served.has(port) === false) needPods(service, port, false);
      return;
    }
    this.#count('accepted');
    place.connections += 1;
    this.#open.add(socket);
    const waiting: Waiting = { socket, port, destination, stop: new AbortController() };
    socket.once('close', () => {
      place.connections -= 1;
      this.#open.delete(socket);
      if (place.waiting.delete(waiting)) this.#count('gave-up');
      waiting.stop.abort();
    });
    const isFirst = place.waiting.size === 0;
    place.waiting.add(waiting);
    if (place.served.has(port)) {
      void this.#connect(place, waiting);
      return;
    }
    // Reading a few bytes detects a disconnect; the rest stays in the kernel.
    socket.once('readable', () => {});
    this.#expireLater(place, waiting);
    needPods(service, port, isFirst);
  }

  #expireLater(place: Place, waiting: Waiting): void {
    const timer = this.#options.clock.timer(this.#options.holdMs, () => {
      if (!place.waiting.delete(waiting)) return;
      this.#count('expired');
      waiting.socket.resetAndDestroy();
    });
    waiting.stop.signal.addEventListener('abort', () => timer.cancel(), { once: true });
  }

  /** Call this after each transaction with the state of the kernel. */
  onCommit(served: readonly ServedService[]): void {
    for (const { service, diversion, targets } of served) {
      const isHeld = holdingOf(diversion) !== undefined;
      if (!isHeld) this.#refused.delete(service);
      const place = this.#places.get(service);
      if (place === undefined) continue;
      place.isHeld = isHeld;
      const isNew = this.#learnServed(place, targets);
      for (const waiting of place.waiting) {
        if (isNew(waiting.port)) void this.#connect(place, waiting);
        else if (!place.isHeld && !place.served.has(waiting.port)) waiting.socket.resetAndDestroy();
      }
      if (place.isHeld) continue;
      this.#options.clock.timer(lingerMs, () => {
        if (!place.isHeld) this.#close(service, place);
      });
    }
  }

  /** Returns a predicate for newly served ports. */
  #learnServed(place: Place, targets: ServedService['targets']): (port: string) => boolean {
    const before = place.served;
    const here = targets.filter(
      ({ virtual: { address, dispatch } }) =>
        address === place.address && dispatch.kind === 'slots',
    );
    place.served = new Set(here.map(({ port }) => port));
    return (port) => place.served.has(port) && !before.has(port);
  }

  async #connect(place: Place, waiting: Waiting): Promise<void> {
    const { socket, destination, stop } = waiting;
    try {
      const other = await dial(destination, this.#options.clock, stop.signal);
      place.waiting.delete(waiting);
      this.#count('relayed');
      other.on('error', () => other.destroy());
      await relay(socket, other);
    } catch {
      if (!place.waiting.delete(waiting)) return;
      this.#count('unreachable');
      socket.resetAndDestroy();
    }
  }

  #giveUp(service: string, place: Place): void {
    for (const { socket } of place.waiting) socket.resetAndDestroy();
    this.#close(service, place);
  }

  /** Stops accepting; established connections continue. */
  #close(service: string, place: Place): void {
    if (this.#places.get(service) === place) this.#places.delete(service);
    for (const server of place.servers) server.close();
  }

  /**
   * Runs until the signal fires. Then no new connections are accepted, and established ones may end normally.
   */
  async run(signal: AbortSignal): Promise<void> {
    await whenAborted(signal);
    for (const [service, place] of this.#places) this.#giveUp(service, place);
    const { clock, drainMs } = this.#options;
    const giveUpAt = clock.monotonic() + drainMs;
    while (this.#open.size > 0 && clock.monotonic() < giveUpAt) await sleep(clock, 50);
    for (const socket of this.#open) socket.resetAndDestroy();
  }

  #count(outcome: Outcome): void {
    this.#counter.add({ outcome });
  }
}

function tcpPorts({ spec }: Service): number[] {
  const ports = (spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  return ports.map(({ port }) => port);
}

async function openAll(
  servers: readonly net.Server[],
  ports: readonly number[],
): Promise<ReadonlyMap<string, Port>> {
  const where = { ...listenPlace(0), backlog: 4_096 };
  const opened = await Promise.all(
    servers.map(async (server) => parsePort(await listen(server, where))),
  );
  return new Map(ports.map((port, index) => [portId('TCP', port), opened[index] ?? parsePort(1)]));
}
