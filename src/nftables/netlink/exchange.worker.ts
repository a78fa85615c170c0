import { parentPort, workerData } from 'node:worker_threads';
import { messageDone, messageError } from './constants.ts';
import type { ExchangeReply, ExchangeRequest, SocketOptions } from './socket.ts';
import { readMessages } from './reader.ts';
import { enterNetworkNamespace, NetlinkSocket, SystemCallError } from './system-calls.ts';

/** Owns one netlink socket: sends what it is handed and returns what the kernel answers. */
const options = workerData as SocketOptions;
if (options.networkNamespace !== undefined) enterNetworkNamespace(options.networkNamespace);
const socket = new NetlinkSocket();
const smallestBuffer = 4 * 1024 * 1024;
let reserved = 0;
grow(smallestBuffer);

parentPort?.postMessage({ kind: 'ready', portId: socket.portId });
parentPort?.on('message', (request: ExchangeRequest | 'close') => {
  if (request === 'close') {
    socket.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(exchange(request));
});

function grow(bytes: number): void {
  if (bytes <= reserved) return;
  reserved = bytes;
  socket.reserve(bytes, bytes);
}

function exchange({ id, bytes, first, last }: ExchangeRequest): ExchangeReply {
  try {
    grow(bytes.length + 64 * 1024);
    socket.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const parts: Buffer[] = [];
    for (;;) {
      const part = socket.receive();
      parts.push(part);
      if (isLast(part, first, last)) return { kind: 'reply', id, bytes: Buffer.concat(parts) };
    }
  } catch (error) {
    const errno = error instanceof SystemCallError ? error.errno : 0;
    return { kind: 'failure', id, errno, message: String(error) };
  }
}

/** A dump ends with `done`; everything else with the answer to its first or its last message. */
function isLast(part: Buffer, first: number, last: number): boolean {
  for (const { type, sequence } of readMessages(part)) {
    if (type === messageDone && sequence === last) return true;
    if (type === messageError && (sequence === first || sequence === last)) return true;
  }
  return false;
}
