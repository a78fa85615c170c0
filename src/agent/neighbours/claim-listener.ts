import fs from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { CausewayError } from '../../domain/error.ts';
import { firstMessage } from '../../nftables/netlink/socket.ts';
import { runProgram } from '../../runtime/program.ts';
import type { Claim } from './claim.ts';

export interface ClaimsWorkerData {
  readonly link: string;
  readonly linkIndex: number;
}

type ClaimMessage = { readonly kind: 'claim'; readonly claim: Claim };

/** What other machines on the link say about whose address is whose, until the signal fires. */
export async function listenToClaims(
  link: string,
  onClaim: (claim: Claim) => void,
  signal: AbortSignal,
): Promise<void> {
  const extension = path.extname(import.meta.url);
  const worker = new Worker(new URL(`./claims.worker${extension}`, import.meta.url), {
    workerData: {
      link,
      linkIndex: (await findLink(link)).ifindex,
    } satisfies ClaimsWorkerData,
    trackUnmanagedFds: false,
  });
  const { stop } = await firstMessage<{ stop: number }>(worker);
  const ended = new Promise<void>((resolve, reject) => {
    worker.once('exit', () => resolve()).once('error', reject);
  });
  worker.on('message', (message: ClaimMessage) => onClaim(message.claim));
  const onAbort = () => wake(stop);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await ended;
  } finally {
    signal.removeEventListener('abort', onAbort);
    fs.close(stop, () => {});
  }
}

/** The thread waits in the kernel; writing to the descriptor wakes it for the last time. */
function wake(descriptor: number): void {
  const one = Buffer.alloc(8);
  one.writeBigUInt64LE(1n);
  fs.write(descriptor, one, () => {});
}

/** The hardware address of a link of this machine. */
export async function hardwareOf(link: string): Promise<string> {
  return (await findLink(link)).address;
}

const linkRecords = z.tuple([z.object({ ifindex: z.number(), address: z.string() })]);

/** Asked of the network that this process is in: files under /sys may show another one's links. */
async function findLink(link: string): Promise<z.output<typeof linkRecords>[0]> {
  const { code, stdout, stderr } = await runProgram('ip', ['-json', 'link', 'show', 'dev', link]);
  if (code === 0) return linkRecords.parse(JSON.parse(stdout))[0];
  throw new CausewayError('unavailable', `the link ${link} can't be read`, { hint: stderr.trim() });
}
