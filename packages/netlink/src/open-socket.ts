import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { firstMessage } from './first-message.ts';
import { NetlinkSocket } from './system-calls.ts';

export interface SocketOptions {
  /** A path such as /run/netns/blue; the process's own namespace when left out. */
  readonly networkNamespace?: string;
}

/** Only a thread can enter another namespace, and it can't come back; a socket can. */
export async function openNetlinkSocket({
  networkNamespace,
}: SocketOptions): Promise<NetlinkSocket> {
  if (networkNamespace === undefined) return new NetlinkSocket();
  // A thread's program lies beside this file and ends as it does: in the sources and once compiled.
  const program = `./open-socket.worker${path.extname(import.meta.url)}`;
  const worker = new Worker(new URL(program, import.meta.url), {
    workerData: networkNamespace,
    trackUnmanagedFds: false,
  });
  const { fd } = await firstMessage<{ fd: number }>(worker);
  return new NetlinkSocket(fd);
}
