import { addressBytes, addressFromBytes, type Address } from '@causeway/base/address/address';
import { parsePort, type Port } from '@causeway/base/address/port';
import type { Backend } from '../compile/virtual-service.ts';
import { protocolNumbers } from '../model/operands.ts';
import type { Pin } from '../pins/pin.ts';
import type { ClientBytes } from '../pins/slot-lookup.ts';
import type { Tracked } from './tracked-connection.ts';

/** One running TCP connection to a virtual address. */
export interface IndexedConnection {
  readonly client: ClientBytes;
  readonly backend: Backend;
  /** The connection with its backend, as a pin. */
  toPin(): Pin;
}

interface Entry {
  readonly backend: Backend;
  /** Conntrack's number of the entry: a later connection may have the same addresses and ports. */
  readonly id: string;
}

interface FrontendConnections {
  readonly address: Address;
  readonly port: Port;
  /** By the client's address and port, as bytes. */
  readonly byClient: Map<string, Entry>;
  readonly backends: Map<string, Backend>;
}

/**
 * The running TCP connections of each frontend, so that a change of one frontend costs its own connections
 * and not the whole conntrack table. Connections with a rewritten source are left out: another gateway can't
 * continue them.
 */
export class ConnectionIndex {
  readonly #frontends = new Map<string, FrontendConnections>();
  readonly #virtual = new Set<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Connections to these addresses are indexed from now on. */
  watchAddresses(addresses: Iterable<Address>): void {
    for (const address of addresses) this.#virtual.add(binary(address));
  }

  /** Undefined if the connection is not indexed. */
  add(tracked: Tracked): { frontend: FrontendPlace; connection: IndexedConnection } | undefined {
    const path = this.#pathOf(tracked);
    if (path === undefined) return undefined;
    const frontend = this.#frontendOf(path);
    const backend = backendOf(frontend, path);
    if (!frontend.byClient.has(path.client)) this.#size += 1;
    frontend.byClient.set(path.client, { backend, id: idOf(tracked) });
    return { frontend, connection: connectionOf(frontend, path.client, backend) };
  }

  /** Returns the connection if it was indexed. */
  remove(tracked: Tracked): IndexedConnection | undefined {
    const path = this.#pathOf(tracked);
    if (path === undefined) return undefined;
    const key = placeKey(path.virtual, path.virtualPort);
    const frontend = this.#frontends.get(key);
    const entry = frontend?.byClient.get(path.client);
    if (frontend === undefined || entry === undefined || entry.id !== idOf(tracked)) {
      return undefined;
    }
    frontend.byClient.delete(path.client);
    this.#size -= 1;
    if (frontend.byClient.size === 0) this.#frontends.delete(key);
    return connectionOf(frontend, path.client, entry.backend);
  }

  /** The frontends that have connections. */
  frontends(): Iterable<FrontendPlace> {
    return this.#frontends.values();
  }

  *connectionsOf({ address, port }: FrontendPlace): Iterable<IndexedConnection> {
    const frontend = this.#frontends.get(placeKey(binary(address), port));
    if (frontend === undefined) return;
    for (const [client, { backend }] of frontend.byClient) {
      yield connectionOf(frontend, client, backend);
    }
  }

  /** Whether this connection runs, and on this backend. */
  has(pin: Pin): boolean {
    const frontend = this.#frontends.get(placeKey(binary(pin.address), pin.port));
    const entry = frontend?.byClient.get(placeKey(binary(pin.client), pin.clientPort));
    return entry?.backend.address === pin.backend && entry.backend.port === pin.backendPort;
  }

  #pathOf(tracked: Tracked): Path | undefined {
    const path = pathOf(tracked);
    return path !== undefined && this.#virtual.has(path.virtual) ? path : undefined;
  }

  #frontendOf({ virtual, virtualPort }: Path): FrontendConnections {
    const key = placeKey(virtual, virtualPort);
    const known = this.#frontends.get(key);
    if (known !== undefined) return known;
    const made: FrontendConnections = {
      address: addressFromBytes(bytesOf(virtual)),
      port: parsePort(virtualPort),
      byClient: new Map(),
      backends: new Map(),
    };
    this.#frontends.set(key, made);
    return made;
  }
}

/** The address and port that clients connect to. */
export interface FrontendPlace {
  readonly address: Address;
  readonly port: Port;
}

interface Path {
  readonly client: string;
  readonly virtual: string;
  readonly virtualPort: number;
  readonly backend: string;
  readonly backendPort: number;
}

/** The ends of a rewritten connection, which may be stored in either direction. */
function pathOf({ original, reply }: Tracked): Path | undefined {
  if (original.protocol !== protocolNumbers.TCP) return undefined;
  const isToBackend =
    original.destination !== reply.source || original.destinationPort !== reply.sourcePort;
  const isFromBackend =
    original.source !== reply.destination || original.sourcePort !== reply.destinationPort;
  if (isToBackend === isFromBackend) return undefined;
  if (isToBackend) {
    return {
      client: placeKey(original.source, original.sourcePort),
      virtual: original.destination,
      virtualPort: original.destinationPort,
      backend: reply.source,
      backendPort: reply.sourcePort,
    };
  }
  return {
    client: placeKey(original.destination, original.destinationPort),
    virtual: reply.destination,
    virtualPort: reply.destinationPort,
    backend: original.source,
    backendPort: original.sourcePort,
  };
}

function backendOf({ backends }: FrontendConnections, { backend, backendPort }: Path): Backend {
  const key = placeKey(backend, backendPort);
  const known = backends.get(key);
  if (known !== undefined) return known;
  const made = { address: addressFromBytes(bytesOf(backend)), port: parsePort(backendPort) };
  backends.set(key, made);
  return made;
}

function connectionOf(
  { address, port }: FrontendPlace,
  client: string,
  backend: Backend,
): IndexedConnection {
  const bytes = bytesOf(client);
  const end = bytes.length - 2;
  const clientAddress = bytes.subarray(0, end);
  const clientPort = bytes.readUInt16BE(end);
  return {
    client: { address: clientAddress, port: clientPort },
    backend,
    toPin: () => ({
      client: addressFromBytes(clientAddress),
      clientPort: parsePort(clientPort),
      address,
      port,
      backend: backend.address,
      backendPort: backend.port,
    }),
  };
}

function idOf({ rawId }: Tracked): string {
  return rawId?.toString('latin1') ?? '';
}

/** An address and a port, as bytes. */
function placeKey(address: string, port: number): string {
  return address + String.fromCharCode(port >> 8, port & 0xff);
}

function binary(address: Address): string {
  return Buffer.from(addressBytes(address)).toString('latin1');
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
