import { addressBytes, familyOf, type Address, type Family } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import type { RemovedEndpoint } from '../layout-change.ts';
import {
  serviceEndpoints,
  serviceKey,
  type ServiceKey,
  type VirtualService,
} from '../virtual-service.ts';
import { families, protocolNumbers } from '../operands.ts';
import {
  messageDone,
  messageError,
  netlinkAck,
  netlinkDump,
  netlinkRequest,
  subsystemConntrack,
} from './constants.ts';
import { kernelErrors } from './kernel-error.ts';
import type { SocketOptions } from './open-socket.ts';
import { messageAttributes, readMessages, type Attributes } from './reader.ts';
import { ExchangeSocket } from './socket.ts';
import { MessageWriter } from './writer.ts';

const getMessage = 1;
const deleteMessage = 2;
const attribute = {
  original: 1,
  reply: 2,
  status: 3,
  id: 12,
  statusMask: 26,
} as const;
const tupleAttribute = { addresses: 1, protocol: 2 } as const;
const protocolAttribute = { number: 1, sourcePort: 2, destinationPort: 3 } as const;
const sourceRewritten = 0x10;
const destinationRewritten = 0x20;
const answered = 0x2;
const errnoNoEntry = 2;
/** Deletions that go to the kernel in one datagram. */
const deletionsAtOnce = 500;

interface Tuple {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A connection as conntrack stores it: how it was opened, and how its answers look. */
interface Tracked {
  readonly original: Tuple;
  readonly reply: Tuple;
  readonly rawOriginal: Buffer;
  readonly rawId: Buffer | undefined;
  readonly family: Family;
  readonly isAnswered: boolean;
}

/** The kernel's table of connections, as far as our rewriting is concerned. */
export class Conntrack {
  readonly #socket: ExchangeSocket;

  private constructor(socket: ExchangeSocket) {
    this.#socket = socket;
  }

  static async open(options: SocketOptions = {}): Promise<Conntrack> {
    return new Conntrack(await ExchangeSocket.open(options));
  }

  /**
   * Deletes the connections to endpoints that are gone and answers how many there were; to one that is
   * still there, only those that it has not answered. One picked up from the server's side is stored
   * the other way round; both ways are looked for. What goes to a node as a whole counts when it was
   * opened to one of the virtual addresses: its own connections may be rewritten by somebody else.
   */
  async forget(
    removed: readonly RemovedEndpoint[],
    signal?: AbortSignal,
    virtual: ReadonlySet<Address> = new Set(),
  ): Promise<number> {
    if (removed.length === 0) return 0;
    const wanted = new RemovedConnections(removed, new VirtualAddresses(virtual));
    return this.#deleteWhere((tracked) => wanted.includes(tracked), wanted.families, signal);
  }

  /**
   * Deletes every rewritten connection to these addresses: when another gateway takes over, what is
   * remembered here goes out of date and would be in the way on the connections' return.
   */
  forgetRewritten(virtual: ReadonlySet<Address>, signal?: AbortSignal): Promise<number> {
    const addresses = new VirtualAddresses(virtual);
    return this.#deleteWhere((tracked) => addresses.includes(tracked), families, signal);
  }

  /**
   * Deletes connections to a service that lead to none of its endpoints: to one that is gone, or past
   * the rules because there were none when the first packet came. Needed for UDP, which has no end; of TCP
   * only what nobody has answered, for which the client tries again.
   */
  async forgetStrays(services: readonly VirtualService[], signal?: AbortSignal): Promise<number> {
    if (services.length === 0) return 0;
    const wanted = new StrayConnections(services);
    return this.#deleteWhere((tracked) => wanted.includes(tracked), wanted.families, signal, [0]);
  }

  close(): Promise<void> {
    return this.#socket.close();
  }

  /** Which of these services anything is connected to, or was until a moment ago. */
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
      for (const { original } of await this.#list(family, destinationRewritten, signal)) {
        const { protocol, destination, destinationPort } = original;
        const key = wanted.get(`${protocol} ${destination} ${destinationPort}`);
        if (key !== undefined) found.add(key);
      }
    }
    return found;
  }

  async #deleteWhere(
    matches: (tracked: Tracked) => boolean,
    among: readonly Family[],
    signal: AbortSignal | undefined,
    statuses: readonly number[] = [destinationRewritten, sourceRewritten],
  ): Promise<number> {
    let deleted = 0;
    for (const family of among) {
      for (const status of statuses) {
        const found = (await this.#list(family, status, signal)).filter(matches);
        for (let start = 0; start < found.length; start += deletionsAtOnce) {
          deleted += await this.#delete(found.slice(start, start + deletionsAtOnce), signal);
        }
      }
    }
    return deleted;
  }

  async #list(family: Family, status: number, signal: AbortSignal | undefined): Promise<Tracked[]> {
    const sequence = this.#socket.reserveSequence(1);
    const writer = new MessageWriter(64);
    const type = (subsystemConntrack << 8) | getMessage;
    writer.message(type, netlinkRequest | netlinkDump, sequence, familyNumber(family));
    // The kernel filters where it can; what it lets through is looked at again.
    if (status !== 0) {
      writer.u32(attribute.status, status);
      writer.u32(attribute.statusMask, status);
    }
    writer.endMessage();
    const answer = await this.#socket.exchange(writer.bytes(), sequence, sequence, signal);
    const [error] = kernelErrors(answer);
    if (error !== undefined) {
      throw new CausewayError('unavailable', `conntrack could not be read: errno ${error.errno}`);
    }
    const found: Tracked[] = [];
    for (const message of readMessages(answer)) {
      if (message.type === messageDone || message.type === messageError) continue;
      const attributes = messageAttributes(message);
      if (status !== 0 && ((attributes.u32(attribute.status) ?? 0) & status) === 0) continue;
      const tracked = decode(attributes, family);
      if (tracked !== undefined) found.push(tracked);
    }
    return found;
  }

  async #delete(entries: readonly Tracked[], signal: AbortSignal | undefined): Promise<number> {
    const first = this.#socket.reserveSequence(entries.length);
    const last = first + entries.length - 1;
    const writer = new MessageWriter(entries.length * 100);
    const type = (subsystemConntrack << 8) | deleteMessage;
    for (const [index, { family, rawOriginal, rawId }] of entries.entries()) {
      const flags = first + index === last ? netlinkRequest | netlinkAck : netlinkRequest;
      writer.message(type, flags, first + index, familyNumber(family));
      writer.bytesAttribute(attribute.original | nestedFlag, rawOriginal);
      // With its number, a connection that has taken the place of the one we saw stays.
      if (rawId !== undefined) writer.bytesAttribute(attribute.id, rawId);
      writer.endMessage();
    }
    const answer = await this.#socket.exchange(writer.bytes(), last, last, signal);
    const errors = kernelErrors(answer);
    const serious = errors.find(({ errno }) => errno !== errnoNoEntry);
    if (serious !== undefined) {
      throw new CausewayError('unavailable', `conntrack: errno ${serious.errno} on deletion`);
    }
    return entries.length - errors.length;
  }
}

const nestedFlag = 0x8000;

/** Recognises connections that were opened to a virtual address, in either orientation. */
class VirtualAddresses {
  readonly #addresses: ReadonlySet<string>;

  constructor(addresses: ReadonlySet<Address>) {
    this.#addresses = new Set([...addresses].map(binary));
  }

  includes({ original, reply }: Tracked): boolean {
    return this.#addresses.has(original.destination) || this.#addresses.has(reply.destination);
  }
}

/** Recognises connections to endpoints that are gone, in either orientation. */
class RemovedConnections {
  readonly #virtual: VirtualAddresses;
  readonly #endpoints = new Set<string>();
  readonly #stillThere = new Set<string>();
  readonly #nodes = new Set<string>();
  readonly families: readonly Family[];

  constructor(removed: readonly RemovedEndpoint[], virtual: VirtualAddresses) {
    this.#virtual = virtual;
    for (const { address, endpoint, isStillThere = false } of removed) {
      if (endpoint === undefined) {
        this.#nodes.add(binary(address));
      } else {
        const { protocol, port, virtualAddress, virtualPort } = endpoint;
        const number = protocolNumbers[protocol];
        const connections = isStillThere ? this.#stillThere : this.#endpoints;
        connections.add(
          identity(number, binary(address), port, binary(virtualAddress), virtualPort),
        );
      }
    }
    const present = new Set(removed.map(({ address }) => familyOf(address)));
    this.families = families.filter((family) => present.has(family));
  }

  includes(tracked: Tracked): boolean {
    const { original, reply, isAnswered } = tracked;
    if (this.#nodes.has(reply.source) || this.#nodes.has(original.source)) {
      return this.#virtual.includes(tracked);
    }
    const forwards = identity(
      ...([original.protocol, reply.source, reply.sourcePort] as const),
      ...([original.destination, original.destinationPort] as const),
    );
    const backwards = identity(
      ...([original.protocol, original.source, original.sourcePort] as const),
      ...([reply.destination, reply.destinationPort] as const),
    );
    const isGivenUp = this.#stillThere.has(forwards) || this.#stillThere.has(backwards);
    if (!isAnswered && isGivenUp) return true;
    return this.#endpoints.has(forwards) || this.#endpoints.has(backwards);
  }
}

/** Recognises connections that were opened to a service and are served by none of its endpoints. */
class StrayConnections {
  readonly #endpoints = new Map<string, Set<string>>();
  /** The port of this machine, on whichever address, that a service leads to. */
  readonly #listeners = new Map<string, number>();
  readonly families: readonly Family[];

  constructor(services: readonly VirtualService[]) {
    for (const service of services) {
      const { address, protocol, port, dispatch } = service;
      const key = `${protocolNumbers[protocol]} ${binary(address)} ${port}`;
      const own = serviceEndpoints(service).map((to) => `${binary(to.address)} ${to.port}`);
      this.#endpoints.set(key, new Set(own));
      if (dispatch.kind === 'here') this.#listeners.set(key, dispatch.port);
    }
    const present = new Set(services.map(({ address }) => familyOf(address)));
    this.families = families.filter((family) => present.has(family));
  }

  includes({ original, reply, isAnswered }: Tracked): boolean {
    const { protocol, destination, destinationPort } = original;
    if (protocol === protocolNumbers.TCP && isAnswered) return false;
    const key = `${protocol} ${destination} ${destinationPort}`;
    if (this.#listeners.get(key) === reply.sourcePort) return false;
    const endpoints = this.#endpoints.get(key);
    return endpoints !== undefined && !endpoints.has(`${reply.source} ${reply.sourcePort}`);
  }
}

function identity(
  protocol: number,
  endpoint: string,
  port: number,
  virtual: string,
  virtualPort: number,
): string {
  return `${protocol} ${endpoint} ${port} ${virtual} ${virtualPort}`;
}

function binary(address: Address): string {
  return Buffer.from(addressBytes(address)).toString('latin1');
}

function decode(attributes: Attributes, family: Family): Tracked | undefined {
  const rawOriginal = attributes.bytes(attribute.original);
  const original = decodeTuple(attributes.nest(attribute.original), family);
  const reply = decodeTuple(attributes.nest(attribute.reply), family);
  if (rawOriginal === undefined || original === undefined || reply === undefined) return undefined;
  return {
    ...{ original, reply, rawOriginal, family },
    rawId: attributes.bytes(attribute.id),
    isAnswered: ((attributes.u32(attribute.status) ?? 0) & answered) !== 0,
  };
}

function decodeTuple(tuple: Attributes | undefined, family: Family): Tuple | undefined {
  const addresses = tuple?.nest(tupleAttribute.addresses);
  const protocol = tuple?.nest(tupleAttribute.protocol);
  const [sourceType, destinationType] = family === 4 ? [1, 2] : [3, 4];
  const source = addresses?.bytes(sourceType);
  const destination = addresses?.bytes(destinationType);
  if (source === undefined || destination === undefined) return undefined;
  return {
    source: source.toString('latin1'),
    destination: destination.toString('latin1'),
    protocol: protocol?.bytes(protocolAttribute.number)?.[0] ?? 0,
    sourcePort: readPort(protocol, protocolAttribute.sourcePort),
    destinationPort: readPort(protocol, protocolAttribute.destinationPort),
  };
}

function readPort(attributes: Attributes | undefined, type: number): number {
  const bytes = attributes?.bytes(type);
  return bytes === undefined || bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
}

function familyNumber(family: Family): number {
  return family === 4 ? 2 : 10;
}
