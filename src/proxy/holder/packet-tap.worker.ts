import { parentPort, workerData } from 'node:worker_threads';
import {
  createEventDescriptor,
  enterNetworkNamespace,
  KernelSocket,
  NetlinkSocket,
  noBuffers,
  SystemCallError,
} from '../../nftables/netlink/system-calls.ts';
import { insideLogGroup } from '../../nftables/names.ts';
import { listenToGroup } from './log-group.ts';
import type { PacketTapOptions } from './packet-tap.ts';
import { openTunDevice } from './tun-device.ts';

/** Passes on what rules log, until it is told to stop through a descriptor. */
const options = workerData as PacketTapOptions;
if (options.networkNamespace !== undefined) enterNetworkNamespace(options.networkNamespace);
const bufferBytes = 16 * 1024 * 1024;

const open = (name: string) => openTunDevice(name, options.settingsDirectory);
const device = open(options.device);
const insideDevice =
  options.insideDevice === undefined ? {} : { insideDevice: open(options.insideDevice) };
const socket = new NetlinkSocket();
socket.reserve(64 * 1024, bufferBytes);
listenToGroup(socket, options.logGroup);
listenToGroup(socket, insideLogGroup(options.logGroup));
const stop = createEventDescriptor();
parentPort?.postMessage({ kind: 'ready', stop, device, ...insideDevice });

while (KernelSocket.waitForAny([socket], stop) !== undefined) {
  try {
    const bytes = socket.receive();
    parentPort?.postMessage({ kind: 'packets', bytes });
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.errno !== noBuffers) throw error;
    parentPort?.postMessage({ kind: 'overrun' });
  }
}
socket.close();
parentPort?.close();
