import { addressBytes, familyOf, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Protocol } from '@causeway/base/address/port';
import type { RemovedBackend } from '../compile/layout-change.ts';
import {
  serviceKey,
  servingBackends,
  type ServiceKey,
  type VirtualService,
} from '../compile/virtual-service.ts';
import { families, protocolNumbers } from '../model/operands.ts';
import { messageDone, messageError } from '@causeway/netlink/constants';
import { kernelErrors } from '../drivers/netlink/kernel-error.ts';
import type { SocketOptions } from '@causeway/netlink/open-socket';
import { messageAttributes, readMessages } from '@causeway/netlink/reader';
import { ExchangeSocket } from '@causeway/netlink/socket';
import {
  decodeConnection,
  deletedTogether,
  deletionRequest,
  destinationRewritten,
  listRequest,
  sourceRewritten,
  unansweredDeletionRequest,
  type Query,
  type Tracked,
} from './tracked-connection.ts';

const errnoNoEntry = 2;
const udp = protocolNumbers.UDP;
/** Deletions per datagram to the kernel. */
const deletionsAtOnce = 500;

/** The kernel's conntrack table, limited to the connections that we rewrite. */
export class Conntrack {
  readonly #socket: ExchangeSocket;

  private constructor(socket: ExchangeSocket) {
    this.#socket = socket;
  }

  static async open(options: SocketOptions = {}): Promise<Conntrack> {
    return new Conntrack(await ExchangeSocket.open(options));
  }

  /**
   * Deletes the connections to removed backends and returns their number; for a backend with
   * `keepsAnswered`, only unanswered ones. A connection that was picked up from the server's side is stored
   * reversed; both directions are searched. For a whole node, UDP flows and unanswered connections are deleted,
   * and only those to the virtual addresses: another program may rewrite the node's own connections.
   */
  async deleteConnections(
    removed: readonly RemovedBackend[],
    signal?: AbortSignal,
    virtual: ReadonlySet<Address> = new Set(),
  ): Promise<number> {
    if (removed.length === 0) return 0;
    const wanted = new RemovedConnections(removed, new VirtualAddresses(virtual));
    const areStillThere = removed.every(({ keepsAnswered = false }) => keepsAnswered);
    const queries = areStillThere ? unanswered(wanted.queries) : wanted.queries;
    let deleted = 0;
    for (const query of queries) {
      const found = (await this.#list(query, signal)).filter((each) => wanted.includes(each));
      const parts = Map.groupBy(found, (each) => wanted.isGivenUp(each));
      deleted += await this.#deleteUnanswered(parts.get(true) ?? [], signal);
      deleted += await this.#deleteAll(parts.get(false) ?? [], signal);
    }
    return deleted;
  }

  /**
   * Deletes every rewritten connection to these addresses. When another gateway takes over, these entries
   * become stale and would break the connections when they return.
   */
  deleteRewritten(virtual: ReadonlySet<Address>, signal?: AbortSignal): Promise<number> {
    const addresses = new VirtualAddresses(virtual);
    const queries = rewritten(families.map((family) => ({ family })));
    return this.#deleteWhere((tracked) => addresses.includes(tracked), queries, signal);
  }

  /**
   * Deletes connections to a service that go to none of its backends: to a removed one, or unrewritten
   * because there were no rules at the first packet. Needed for UDP, which has no end. TCP connections are
   * deleted only if unanswered: the client tries again.
   */
  async deleteStaleEntries(
    services: readonly VirtualService[],
    signal?: AbortSignal,
  ): Promise<number> {
    if (services.length === 0) return 0;
    const wanted = new StaleConnections(services);
    return this.#deleteWhere((tracked) => wanted.includes(tracked), wanted.queries, signal);
  }

  close(): Promise<void> {
    return this.#socket.close();
  }

  /** The services that have a connection, or had one until a moment ago. */
  async connected(
    services: readonly VirtualService[],
    signal?: AbortSignal,
  ): Promise<ReadonlySet<ServiceKey>> {
    const wanted = new Map(
      services.map((service) => {
        const { address, protocol, port } = service;
        const key = `${protocolNumbers[protocol]} ${binary(address)} ${port}`;
        return [key, serviceKey(service)] as const;
      }),
    );
    const present = new Set(services.map(({ address }) => familyOf(address)));
    const found = new Set<ServiceKey>();
    for (const family of present) {
      for (const { original } of await this.#list(
        { family, status: destinationRewritten },
        signal,
      )) {
        const { protocol, destination, destinationPort } = original;
        const key = wanted.get(`${protocol} ${destination} ${destinationPort}`);
        if (key !== undefined) found.add(key);
      }
    }
    return found;
  }

  async #deleteWhere(
    matches: (tracked: Tracked) => boolean,
    queries: readonly Query[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let deleted = 0;
    for (const query of queries) {
      deleted += await this.#deleteAll((await this.#list(query, signal)).filter(matches), signal);
    }
    return deleted;
  }

  async #deleteAll(entries: readonly Tracked[], signal: AbortSignal | undefined): Promise<number> {
    let deleted = 0;
    for (let start = 0; start < entries.length; start += deletionsAtOnce) {
      deleted += await this.#delete(entries.slice(start, start + deletionsAtOnce), signal);
    }
    return deleted;
  }

  /**
   * Deletes the unanswered ones. If possible, the kernel checks this itself: a connection that is answered
   * between our listing and the deletion must not be deleted.
   */
  async #deleteUnanswered(
    entries: readonly Tracked[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let deleted = 0;
    for (const alike of Map.groupBy(entries, deletedTogether).values()) {
      const [one] = alike;
      if (one === undefined) continue;
      const sequence = this.#socket.reserveSequence(1);
      const bytes = unansweredDeletionRequest(one, sequence);
      const answer = await this.#socket.exchange(bytes, sequence, sequence, signal);
      const [error] = kernelErrors(answer);
      // Connections that were answered in the meantime are counted as well.
      if (error === undefined) deleted += alike.length;
      else deleted += await this.#deleteAll(alike, signal);
    }
    return deleted;
  }

  async #list(query: Query, signal: AbortSignal | undefined): Promise<Tracked[]> {
    const sequence = this.#socket.reserveSequence(1);
    const bytes = listRequest(query, sequence);
    const answer = await this.#socket.exchange(bytes, sequence, sequence, signal);
    const [error] = kernelErrors(answer);
    if (error !== undefined) {
      throw new CausewayError('unavailable', `conntrack could not be read: errno ${error.errno}`);
    }
    const found: Tracked[] = [];
    for (const message of readMessages(answer)) {
      if (message.type === messageDone || message.type === messageError) continue;
      const tracked = decodeConnection(messageAttributes(message), query);
      if (tracked !== undefined) found.push(tracked);
    }
    return found;
  }

  async #delete(entries: readonly Tracked[], signal: AbortSignal | undefined): Promise<number> {
    const first = this.#socket.reserveSequence(entries.length);
    const last = first + entries.length - 1;
    const bytes = deletionRequest(entries, first);
    const answer = await this.#socket.exchange(bytes, last, last, signal);
    const errors = kernelErrors(answer);
    const serious = errors.find(({ errno }) => errno !== errnoNoEntry);
    if (serious !== undefined) {
      throw new CausewayError('unavailable', `conntrack: errno ${serious.errno} on deletion`);
    }
    return entries.length - errors.length;
  }
}

/** Each combination of family and protocol, once. */
function queriesFor(
  ids: Iterable<{ readonly address: Address; readonly protocol: Protocol | undefined }>,
): Query[] {
  const queries = new Map<string, Query>();
  for (const { address, protocol } of ids) {
    const family = familyOf(address);
    const number = protocol === undefined ? undefined : protocolNumbers[protocol];
    queries.set(`${family} ${number}`, { family, protocol: number });
  }
  return [...queries.values()];
}

/**
 * Connections that were opened to a rewritten address, and those that were picked up from the server's side.
 */
function rewritten(queries: readonly Query[]): Query[] {
  return queries.flatMap((query) =>
    [destinationRewritten, sourceRewritten].map((status) => ({ ...query, status })),
  );
}

/**
 * The unanswered ones of them. A connection that was picked up from the server's side always has an answer.
 */
function unanswered(queries: readonly Query[]): Query[] {
  const opened = queries.filter(({ status }) => status !== sourceRewritten);
  return opened.map((query) => ({ ...query, isUnanswered: true }));
}

/** Matches connections that were opened to a virtual address, in either direction. */
class VirtualAddresses {
  readonly #addresses: ReadonlySet<string>;

  constructor(addresses: ReadonlySet<Address>) {
    this.#addresses = new Set([...addresses].map(binary));
  }

  includes({ original, reply }: Tracked): boolean {
    return this.#addresses.has(original.destination) || this.#addresses.has(reply.destination);
  }
}

/** Matches connections to removed backends, in either direction. */
class RemovedConnections {
  readonly #virtual: VirtualAddresses;
  readonly #backends = new Set<string>();
  readonly #stillThere = new Set<string>();
  readonly #nodes = new Set<string>();
  readonly queries: readonly Query[];

  constructor(removed: readonly RemovedBackend[], virtual: VirtualAddresses) {
    this.#virtual = virtual;
    for (const { address, backend, keepsAnswered = false } of removed) {
      if (backend === undefined) {
        this.#nodes.add(binary(address));
      } else {
        const { protocol, port, virtualAddress, virtualPort } = backend;
        const number = protocolNumbers[protocol];
        const connections = keepsAnswered ? this.#stillThere : this.#backends;
        connections.add(
          identity(number, binary(address), port, binary(virtualAddress), virtualPort),
        );
      }
    }
    this.queries = rewritten(
      queriesFor(removed.map(({ address, backend }) => ({ address, protocol: backend?.protocol }))),
    );
  }

  includes(tracked: Tracked): boolean {
    const { original, reply, isAnswered } = tracked;
    if (this.#isThroughNode(tracked)) {
      return (original.protocol === udp || !isAnswered) && this.#virtual.includes(tracked);
    }
    const forwards = pathOf(tracked);
    const backwards = identity(
      ...([original.protocol, original.source, original.sourcePort] as const),
      ...([reply.destination, reply.destinationPort] as const),
    );
    const isGivenUp = this.#stillThere.has(forwards) || this.#stillThere.has(backwards);
    if (!isAnswered && isGivenUp) return true;
    return this.#backends.has(forwards) || this.#backends.has(backwards);
  }

  /** It is deleted only if unanswered. */
  isGivenUp(tracked: Tracked): boolean {
    if (this.#isThroughNode(tracked)) return tracked.original.protocol !== udp;
    return this.#stillThere.has(pathOf(tracked));
  }

  #isThroughNode({ original, reply }: Tracked): boolean {
    return this.#nodes.has(reply.source) || this.#nodes.has(original.source);
  }
}

/** Matches connections that were opened to a service and use none of its backends. */
class StaleConnections {
  readonly #backends = new Map<string, Set<string>>();
  /** The port of this machine, on any address, that a service is redirected to. */
  readonly #listeners = new Map<string, number>();
  readonly queries: readonly Query[];

  constructor(services: readonly VirtualService[]) {
    for (const service of services) {
      const { address, protocol, port, dispatch } = service;
      const key = `${protocolNumbers[protocol]} ${binary(address)} ${port}`;
      const own = servingBackends(service).map((to) => `${binary(to.address)} ${to.port}`);
      this.#backends.set(key, new Set(own));
      if (dispatch.kind === 'here') this.#listeners.set(key, dispatch.port);
    }
    this.queries = queriesFor(services);
  }

  includes({ original, reply, isAnswered }: Tracked): boolean {
    const { protocol, destination, destinationPort } = original;
    if (protocol === protocolNumbers.TCP && isAnswered) return false;
    const key = `${protocol} ${destination} ${destinationPort}`;
    if (this.#listeners.get(key) === reply.sourcePort) return false;
    const backends = this.#backends.get(key);
    return backends !== undefined && !backends.has(`${reply.source} ${reply.sourcePort}`);
  }
}

/** Virtual address and backend of a connection, as a key. */
function pathOf({ original, reply }: Tracked): string {
  const { protocol, destination, destinationPort } = original;
  return identity(protocol, reply.source, reply.sourcePort, destination, destinationPort);
}

function identity(
  protocol: number,
  backend: string,
  port: number,
  virtual: string,
  virtualPort: number,
): string {
  return `${protocol} ${backend} ${port} ${virtual} ${virtualPort}`;
}

function binary(address: Address): string {
  return Buffer.from(addressBytes(address)).toString('latin1');
}
