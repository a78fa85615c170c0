import {
  KernelSocket,
  noBuffers,
  openSocket,
  SystemCallError,
} from '@causeway/netlink/system-calls';
import { parseAdvertisement, parseArp, type NeighbourBinding } from './neighbour-binding.ts';

const packetFamily = 17;
const datagramSocket = 2;
const arpProtocol = 0x0806;
const ipv6Family = 10;
const rawSocket = 3;
const icmpv6 = 58;
const icmpv6Filter = 1;
const neighbourAdvertisement = 136;
const socketLevel = 1;
const bindToDevice = 25;
/** Most packets of one socket that are read in one batch. More indicates a packet storm. */
const packetsAtOnce = 1000;

export interface Link {
  readonly name: string;
  readonly index: number;
}

/** The sockets that receive ARP and neighbor discovery messages of other machines. */
export class NeighbourSockets {
  readonly #parsers = new Map<KernelSocket, (bytes: Buffer) => NeighbourBinding | undefined>();

  constructor(link: Link) {
    try {
      this.#openArp(link);
      this.#openAdvertisements(link);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Bindings that have arrived since the last call. */
  *take(): Generator<NeighbourBinding> {
    for (const [socket, parse] of this.#parsers) {
      for (let taken = 0; taken < packetsAtOnce; taken += 1) {
        const bytes = takeFrom(socket);
        if (bytes === undefined) break;
        const binding = parse(bytes);
        if (binding !== undefined) yield binding;
      }
    }
  }

  close(): void {
    for (const socket of this.#parsers.keys()) socket.close();
    this.#parsers.clear();
  }

  /** ARP packets received on the link. The machine's own packets are not included. */
  #openArp({ index }: Link): void {
    const protocol = Buffer.alloc(2);
    protocol.writeUInt16BE(arpProtocol);
    const socket = this.#open(packetFamily, datagramSocket, protocol.readUInt16LE(), parseArp);
    const address = Buffer.alloc(20);
    address.writeUInt16LE(packetFamily, 0);
    protocol.copy(address, 2);
    address.writeInt32LE(index, 4);
    socket.bind(address);
  }

  /** ICMPv6 neighbor advertisements received on the link. */
  #openAdvertisements({ name }: Link): void {
    const socket = this.#open(ipv6Family, rawSocket, icmpv6, parseAdvertisement);
    // A set bit filters out its type.
    const filter = Buffer.alloc(32, 0xff);
    const at = neighbourAdvertisement >> 3;
    filter[at] = (filter[at] ?? 0) & ~(1 << (neighbourAdvertisement & 7));
    socket.option(icmpv6, icmpv6Filter, filter);
    socket.option(socketLevel, bindToDevice, Buffer.from(`${name}\0`));
  }

  #open(
    family: number,
    type: number,
    protocol: number,
    parse: (bytes: Buffer) => NeighbourBinding | undefined,
  ): KernelSocket {
    const socket = new KernelSocket(openSocket(family, type, protocol));
    this.#parsers.set(socket, parse);
    return socket;
  }
}

function takeFrom(socket: KernelSocket): Buffer | undefined {
  try {
    return socket.receiveNow();
  } catch (error) {
    // The buffer overflowed. The senders repeat lost messages.
    if (error instanceof SystemCallError && error.errno === noBuffers) return undefined;
    throw error;
  }
}
