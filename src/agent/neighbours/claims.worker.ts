import { parentPort, workerData } from 'node:worker_threads';
import {
  createEventDescriptor,
  KernelSocket,
  noBuffers,
  SystemCallError,
} from '../../nftables/netlink/system-calls.ts';
import { parseAdvertisement, parseArp, type Claim } from './claim.ts';
import type { ClaimsWorkerData } from './claim-listener.ts';

const { link, linkIndex } = workerData as ClaimsWorkerData;

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

/** ARP packets that arrive by the link; the machine's own are not among them. */
function openArp(): KernelSocket {
  const protocol = Buffer.alloc(2);
  protocol.writeUInt16BE(arpProtocol);
  const socket = new KernelSocket(packetFamily, datagramSocket, protocol.readUInt16LE());
  const address = Buffer.alloc(20);
  address.writeUInt16LE(packetFamily, 0);
  protocol.copy(address, 2);
  address.writeInt32LE(linkIndex, 4);
  socket.bind(address);
  return socket;
}

/** Neighbour advertisements that arrive by the link, and nothing else of ICMPv6. */
function openAdvertisements(): KernelSocket {
  const socket = new KernelSocket(ipv6Family, rawSocket, icmpv6);
  // A bit that is set keeps its type out.
  const filter = Buffer.alloc(32, 0xff);
  const at = neighbourAdvertisement >> 3;
  filter[at] = (filter[at] ?? 0) & ~(1 << (neighbourAdvertisement & 7));
  socket.option(icmpv6, icmpv6Filter, filter);
  socket.option(socketLevel, bindToDevice, Buffer.from(`${link}\0`));
  return socket;
}

const parsers = new Map<KernelSocket, (bytes: Buffer) => Claim | undefined>([
  [openArp(), parseArp],
  [openAdvertisements(), parseAdvertisement],
]);
const stop = createEventDescriptor();
parentPort?.postMessage({ kind: 'ready', stop });

for (;;) {
  const ready = KernelSocket.waitForAny([...parsers.keys()], stop);
  if (ready === undefined) break;
  for (const socket of ready) {
    try {
      const claim = parsers.get(socket)?.(socket.receive());
      if (claim !== undefined) parentPort?.postMessage({ kind: 'claim', claim });
    } catch (error) {
      // More than the buffer held: what was missed is said again.
      if (!(error instanceof SystemCallError) || error.errno !== noBuffers) throw error;
    }
  }
}
for (const socket of parsers.keys()) socket.close();
parentPort?.close();
