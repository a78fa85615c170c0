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

/** Room for the announcement of a table with tens of thousands of elements, read by a thread that may be late. */
const bufferBytes = 16 * 1024 * 1024;

/** Passes on what the kernel announces, until it is told to stop through a descriptor. */
const options = workerData as EventSocketOptions;
if (options.networkNamespace !== undefined) enterNetworkNamespace(options.networkNamespace);
const socket = new NetlinkSocket();
socket.reserve(0, bufferBytes);
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
