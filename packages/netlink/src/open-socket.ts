import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { firstMessage } from './first-message.ts';
import { NetlinkSocket } from './system-calls.ts';

export interface SocketOptions {
  /** A path such as /run/netns/blue; defaults to the namespace of the process. */
  readonly networkNamespace?: string;
}

/** Only a thread can enter another namespace, and it can't return; its socket can be used by the process. */
export async function openNetlinkSocket({
  networkNamespace,
}: SocketOptions): Promise<NetlinkSocket> {
  if (networkNamespace === undefined) return new NetlinkSocket();
  // The worker's program is beside this file and has the same extension, in the sources and compiled.
  const program = `./open-socket.worker${path.extname(import.meta.url)}`;
  const worker = new Worker(new URL(program, import.meta.url), {
    workerData: networkNamespace,
    trackUnmanagedFds: false,
  });
  const { fd } = await firstMessage<{ fd: number }>(worker);
  return new NetlinkSocket(fd);
}
