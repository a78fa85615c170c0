import { parentPort, workerData } from 'node:worker_threads';
import type { EventSocketOptions } from './events.ts';
import {
  createEventDescriptor,
  enterNetworkNamespace,
  KernelSocket,
  NetlinkSocket,
  noBuffers,
  SystemCallError,
} from './system-calls.ts';

/** Passes on what the kernel announces, until it is told to stop through a descriptor. */
const options = workerData as EventSocketOptions;
if (options.networkNamespace !== undefined) enterNetworkNamespace(options.networkNamespace);
const socket = new NetlinkSocket();
socket.join(options.group);
const stop = createEventDescriptor();
parentPort?.postMessage({ kind: 'ready', stop });

while (KernelSocket.waitForAny([socket], stop) !== undefined) {
  try {
    parentPort?.postMessage({ kind: 'events', bytes: socket.receive() });
  } catch (error) {
    // The kernel announced more than the buffer held: something was missed.
    if (!(error instanceof SystemCallError) || error.errno !== noBuffers) throw error;
    parentPort?.postMessage({ kind: 'overrun' });
  }
}
socket.close();
parentPort?.close();
