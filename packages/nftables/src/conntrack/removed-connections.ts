import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { Removed, RemovedBackend } from '../compile/layout-change.ts';
import { protocolNumbers } from '../model/operands.ts';
import { backwardPath, binary, forwardPath, frontendId, pathId } from './connection-keys.ts';
import {
  addressTail,
  destinationRewritten,
  mostFilters,
  sourceRewritten,
  type Query,
  type Tracked,
  type TuplePart,
} from './tracked-connection.ts';
import type { VirtualAddresses } from './virtual-addresses.ts';

/** How a connection is deleted: in any state, or only if it is still unanswered. */
export type Deletion = 'any' | 'unanswered';

/** Selects the connections to removed backends, in either direction. */
export class RemovedConnections {
  readonly #virtual: VirtualAddresses;
  readonly #services = new Set<string>();
  /** Removed services that keep their answered connections. */
  readonly #attempted = new Set<string>();
  readonly #backends = new Set<string>();
  readonly #stillThere = new Set<string>();
  readonly #nodes = new Set<string>();
  readonly queries: readonly Query[];

  constructor(removed: readonly Removed[], virtual: VirtualAddresses) {
    this.#virtual = virtual;
    for (const each of removed) this.#add(each);
    const tails = new Set(removed.flatMap(virtualOf).map(addressTail));
    this.queries = [
      ...backendQueries(removed).map((query) => ({ ...query, virtual: tails })),
      ...nodeQueries(removed).map((query) => ({ ...query, virtual: virtual.tails })),
    ];
  }

  #add(removed: Removed): void {
    if (removed.service !== undefined) {
      const { protocol, address, port } = removed.service;
      const services = removed.keepsAnswered === true ? this.#attempted : this.#services;
      services.add(frontendId(protocolNumbers[protocol], binary(address), port));
      return;
    }
    const { address, backend, keepsAnswered = false } = removed;
    if (backend === undefined) {
      this.#nodes.add(binary(address));
    } else {
      const { protocol, port, virtualAddress, virtualPort } = backend;
      const connections = keepsAnswered ? this.#stillThere : this.#backends;
      const virtual = binary(virtualAddress);
      connections.add(
        pathId(protocolNumbers[protocol], binary(address), port, virtual, virtualPort),
      );
    }
  }

  /** Whether and how the connection is deleted. */
  select(tracked: Tracked): Deletion | undefined {
    const { original, reply, isAnswered } = tracked;
    if (this.#nodes.has(reply.source) || this.#nodes.has(original.source)) {
      const isUdp = original.protocol === protocolNumbers.UDP;
      if ((!isUdp && isAnswered) || !this.#virtual.includes(tracked)) return undefined;
      return isUdp ? 'any' : 'unanswered';
    }
    const [forward, backward] = [forwardPath(tracked), backwardPath(tracked)];
    if (this.#backends.has(forward) || this.#backends.has(backward)) return 'any';
    if (this.#services.has(openedTo(tracked)) || this.#services.has(answeredAs(tracked))) {
      return 'any';
    }
    if (isAnswered) return undefined;
    const isTried = this.#stillThere.has(forward) || this.#attempted.has(openedTo(tracked));
    return isTried ? 'unanswered' : undefined;
  }
}

/** The virtual address and port of a connection that the client opened. */
function openedTo({ original }: Tracked): string {
  return frontendId(original.protocol, original.destination, original.destinationPort);
}

/** The virtual address and port of a connection that was picked up from the server's side. */
function answeredAs({ reply }: Tracked): string {
  return frontendId(reply.protocol, reply.destination, reply.destinationPort);
}

function virtualOf({ service, backend }: Removed): readonly Address[] {
  if (service !== undefined) return [service.address];
  return backend === undefined ? [] : [backend.virtualAddress];
}

interface Frontend {
  readonly family: Family;
  readonly protocol: number;
  readonly virtual: TuplePart;
  readonly removed: Removed[];
}

/**
 * Searches by virtual address and port. A connection that was picked up from the server's side is stored reversed, and
 * is always answered. With many frontends, one search covers all of a family and protocol.
 */
function backendQueries(removed: readonly Removed[]): Query[] {
  const frontends = new Map<string, Frontend>();
  for (const each of removed) {
    const frontend = frontendOf(each);
    if (frontend === undefined) continue;
    const { protocol, virtual } = frontend;
    const key = frontendId(protocol, virtual.destination ?? '', virtual.destinationPort ?? 0);
    const known = frontends.get(key);
    if (known === undefined) frontends.set(key, frontend);
    else known.removed.push(each);
  }
  const all = [...frontends.values()];
  if (all.length <= mostFilters) return all.flatMap(frontendQueries);
  const alike = Map.groupBy(all, ({ family, protocol }) => `${family} ${protocol}`);
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { family, protocol } = first;
    const all = group.flatMap((each) => each.removed);
    return bothDirections({ family, protocol }, all);
  });
}

function frontendOf(removed: Removed): Frontend | undefined {
  const { service, backend } = removed;
  if (service !== undefined) {
    return frontendAt(service.protocol, service.address, service.port, removed);
  }
  if (backend === undefined) return undefined;
  return frontendAt(backend.protocol, backend.virtualAddress, backend.virtualPort, removed);
}

function frontendAt(
  protocol: Protocol,
  address: Address,
  destinationPort: Port,
  removed: Removed,
): Frontend {
  return {
    family: familyOf(address),
    protocol: protocolNumbers[protocol],
    virtual: { destination: binary(address), destinationPort },
    removed: [removed],
  };
}

function frontendQueries({ family, protocol, virtual, removed }: Frontend): Query[] {
  const [only, ...others] = removed;
  const server = others.length === 0 && only !== undefined ? serverOf(only) : {};
  return bothDirections({ family, protocol }, removed).map((query) => ({
    ...query,
    like:
      query.status === sourceRewritten
        ? { original: server, reply: virtual }
        : { original: virtual, reply: server },
  }));
}

/** The backend, as far as one is named. */
function serverOf({ address, backend }: Removed): TuplePart {
  if (backend === undefined) return {};
  return { source: binary(address), sourcePort: backend.port };
}

function bothDirections(query: Query, removed: readonly Removed[]): Query[] {
  const isUnanswered = removed.every(({ keepsAnswered = false }) => keepsAnswered);
  const opened = { ...query, status: destinationRewritten };
  if (isUnanswered) return [{ ...opened, isUnanswered }];
  return [opened, { ...query, status: sourceRewritten }];
}

/** UDP flows through removed nodes, in both directions, and unanswered connections of all protocols. */
function nodeQueries(removed: readonly Removed[]): Query[] {
  const nodes = removed.filter(isNode).map(({ address }) => address);
  return [...Map.groupBy(nodes, familyOf)].flatMap(([family, own]) =>
    // The kernel does not compare IPv6 addresses.
    own.length > mostFilters || family === 6
      ? throughNode(family, undefined)
      : own.flatMap((address) => throughNode(family, address)),
  );
}

function isNode(removed: Removed): removed is RemovedBackend {
  return removed.service === undefined && removed.backend === undefined;
}

function throughNode(family: Family, address: Address | undefined): Query[] {
  const node = address === undefined ? {} : { source: binary(address) };
  const udp = { family, protocol: protocolNumbers.UDP };
  return [
    { ...udp, status: destinationRewritten, like: { reply: node } },
    { ...udp, status: sourceRewritten, like: { original: node } },
    { family, status: destinationRewritten, isUnanswered: true, like: { reply: node } },
  ];
}
