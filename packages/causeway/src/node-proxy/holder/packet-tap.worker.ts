import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  createEventDescriptor,
  enterNetworkNamespace,
  KernelSocket,
  NetlinkSocket,
  noBuffers,
  SystemCallError,
} from '@causeway/netlink/system-calls';
import { insideLogGroup } from '@causeway/nftables/model/names';
import { listenToGroup } from '@causeway/netlink/nflog-group';
import { openTogether } from '@causeway/base/work/open-together';
import type { Devices, PacketTapOptions } from './packet-tap.ts';
import { openTunDevice } from '@causeway/netlink/tun-device';

/** Passes on logged packets until it is stopped through a descriptor. */
const options = workerData as PacketTapOptions;
if (options.networkNamespace !== undefined) enterNetworkNamespace(options.networkNamespace);
const bufferBytes = 16 * 1024 * 1024;

const { socket, ...descriptors } = openTogether((keep) => {
  const log = keep(new NetlinkSocket(), (opened) => opened.close());
  log.reserve(64 * 1024, bufferBytes);
  listenToGroup(log, options.logGroup);
  listenToGroup(log, insideLogGroup(options.logGroup));
  return { socket: log, stop: createEventDescriptor(), ...openDevices() };
});
parentPort?.postMessage({ kind: 'ready', ...descriptors });

try {
  while (KernelSocket.waitForAny([socket], descriptors.stop) !== undefined) passOn();
} finally {
  // The owners of the other descriptors close them.
  socket.close();
}
parentPort?.close();

/** A received packet can wake a Service, even without a device for replays. */
function openDevices(): Devices {
  try {
    return openTogether((keep) => {
      const open = (name: string) =>
        keep(openTunDevice(name, options.settingsDirectory), fs.closeSync);
      const device = open(options.device);
      if (options.insideDevice === undefined) return { device };
      return { device, insideDevice: open(options.insideDevice) };
    });
  } catch (error) {
    return { whyNoDevice: CausewayError.from(error).message };
  }
}

function passOn(): void {
  try {
    const bytes = socket.receive();
    parentPort?.postMessage({ kind: 'packets', bytes });
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.errno !== noBuffers) throw error;
    parentPort?.postMessage({ kind: 'overrun' });
  }
}
