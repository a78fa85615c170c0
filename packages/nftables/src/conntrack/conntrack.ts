import { familyOf, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { SocketOptions } from '@causeway/netlink/open-socket';
import { ExchangeSocket } from '@causeway/netlink/socket';
import type { Removed } from '../compile/layout-change.ts';
import { serviceKey, type ServiceKey, type VirtualService } from '../compile/virtual-service.ts';
import { kernelErrors } from '../drivers/netlink/kernel-error.ts';
import { families, protocolNumbers } from '../model/operands.ts';
import { binary, frontendId } from './connection-keys.ts';
import { connectionsIn } from './read-connections.ts';
import { RemovedConnections, type Deletion } from './removed-connections.ts';
import { StaleEntries, type CheckedService } from './stale-entries.ts';
import {
  addressTail,
  deletedTogether,
  deletionRequest,
  destinationRewritten,
  listRequest,
  sourceRewritten,
  unansweredDeletionRequest,
  type Query,
  type Tracked,
} from './tracked-connection.ts';
import { VirtualAddresses } from './virtual-addresses.ts';

const errnoNoEntry = 2;

/**
 * The kernel's conntrack table, limited to the connections that we rewrite. The table is read in small parts, and each
 * part is processed before the next one: neither memory nor the longest hold of the event loop depends on the table.
 */
export class Conntrack {
  readonly #listing: ExchangeSocket;
  /** A second socket, because a listing occupies its socket to the end. */
  readonly #deleting: ExchangeSocket;

  private constructor(listing: ExchangeSocket, deleting: ExchangeSocket) {
    this.#listing = listing;
    this.#deleting = deleting;
  }

  static async open(options: SocketOptions = {}): Promise<Conntrack> {
    return new Conntrack(await ExchangeSocket.open(options), await ExchangeSocket.open(options));
  }

  /**
   * Deletes the connections of removed backends and services, and returns their number; with `keepsAnswered`, only
   * unanswered ones. A connection that was picked up from the server's side is stored reversed; both directions are
   * searched. For a whole node, UDP flows and unanswered connections are deleted, and only those to the virtual
   * addresses: another program may rewrite the node's own connections.
   */
  async deleteConnections(
    removed: readonly Removed[],
    signal?: AbortSignal,
    virtual: ReadonlySet<Address> = new Set(),
  ): Promise<number> {
    if (removed.length === 0) return 0;
    const wanted = new RemovedConnections(removed, new VirtualAddresses(virtual));
    return this.#deleteWhere((tracked) => wanted.select(tracked), wanted.queries, signal);
  }

  /**
   * Deletes every rewritten connection to these addresses. When another gateway takes over, these entries
   * become stale and would break the connections when they return.
   */
  deleteRewritten(virtual: ReadonlySet<Address>, signal?: AbortSignal): Promise<number> {
    const addresses = new VirtualAddresses(virtual);
    const queries = families.flatMap((family) =>
      [destinationRewritten, sourceRewritten].map((status) => ({
        family,
        status,
        virtual: addresses.tails,
      })),
    );
    const select = (tracked: Tracked) => (addresses.includes(tracked) ? 'any' : undefined);
    return this.#deleteWhere(select, queries, signal);
  }

  /**
   * Deletes connections to a service that go to none of its backends: to a removed one, or unrewritten
   * because there were no rules at the first packet. Needed for UDP, which has no end. TCP connections are
   * deleted only if unanswered: the client tries again.
   */
  async deleteStaleEntries(
    services: readonly CheckedService[],
    signal?: AbortSignal,
  ): Promise<number> {
    if (services.length === 0) return 0;
    const wanted = new StaleEntries(services);
    const select = (tracked: Tracked) => (wanted.includes(tracked) ? 'any' : undefined);
    return this.#deleteWhere(select, wanted.queries, signal);
  }

  async close(): Promise<void> {
    await this.#listing.close();
    await this.#deleting.close();
  }

  /** The services that have a connection, or had one until a moment ago. */
  async connected(
    services: readonly VirtualService[],
    signal?: AbortSignal,
  ): Promise<ReadonlySet<ServiceKey>> {
    const wanted = new Map(
      services.map((service) => {
        const { address, protocol, port } = service;
        const key = frontendId(protocolNumbers[protocol], binary(address), port);
        return [key, serviceKey(service)] as const;
      }),
    );
    const virtual = new Set(services.map(({ address }) => addressTail(address)));
    const present = new Set(services.map(({ address }) => familyOf(address)));
    const found = new Set<ServiceKey>();
    for (const family of present) {
      const query = { family, status: destinationRewritten, virtual };
      await this.#visit(query, signal, (connections) => {
        for (const { original } of connections) {
          const { protocol, destination, destinationPort } = original;
          const key = wanted.get(frontendId(protocol, destination, destinationPort));
          if (key !== undefined) found.add(key);
        }
      });
    }
    return found;
  }

  async #deleteWhere(
    select: (tracked: Tracked) => Deletion | undefined,
    queries: readonly Query[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let deleted = 0;
    for (const query of queries) {
      await this.#visit(query, signal, async (connections) => {
        const parts: Record<Deletion, Tracked[]> = { any: [], unanswered: [] };
        for (const tracked of connections) {
          const deletion = select(tracked);
          if (deletion !== undefined) parts[deletion].push(tracked);
        }
        deleted += await this.#deleteUnanswered(parts.unanswered, signal);
        if (parts.any.length > 0) deleted += await this.#delete(parts.any, signal);
      });
    }
    return deleted;
  }

  /** Passes the connections of the table part by part. They are valid until the visitor resolves. */
  #visit(
    query: Query,
    signal: AbortSignal | undefined,
    visit: (connections: Iterable<Tracked>) => Promise<void> | void,
  ): Promise<void> {
    const sequence = this.#listing.reserveSequence(1);
    const bytes = listRequest(query, sequence);
    return this.#listing.dump(bytes, sequence, (part) => visit(connectionsIn(part, query)), signal);
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
      const sequence = this.#deleting.reserveSequence(1);
      const bytes = unansweredDeletionRequest(one, sequence);
      const answer = await this.#deleting.exchange(bytes, sequence, sequence, signal);
      const [error] = kernelErrors(answer);
      // Connections that were answered in the meantime are counted as well.
      if (error === undefined) deleted += alike.length;
      else deleted += await this.#delete(alike, signal);
    }
    return deleted;
  }

  async #delete(entries: readonly Tracked[], signal: AbortSignal | undefined): Promise<number> {
    const first = this.#deleting.reserveSequence(entries.length);
    const last = first + entries.length - 1;
    const bytes = deletionRequest(entries, first);
    const answer = await this.#deleting.exchange(bytes, last, last, signal);
    const errors = kernelErrors(answer);
    const serious = errors.find(({ errno }) => errno !== errnoNoEntry);
    if (serious !== undefined) {
      throw new CausewayError('unavailable', `conntrack: errno ${serious.errno} on deletion`);
    }
    return entries.length - errors.length;
  }
}
