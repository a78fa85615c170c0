import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { runProgram } from '@causeway/base/process/run-program';
import type { NeighbourBinding } from './neighbour-binding.ts';
import { NeighbourSockets } from './neighbour-sockets.ts';

/** Node can't wait for such sockets, and a thread for it would take 15 MB. */
const checkEveryMs = 250;

/** Passes on the bindings that other machines announce on the link until the signal fires. */
export async function listenToNeighbours(
  link: string,
  clock: Clock,
  onBinding: (binding: NeighbourBinding) => void,
  signal: AbortSignal,
): Promise<void> {
  const { ifindex } = await findLink(link);
  const sockets = new NeighbourSockets({ name: link, index: ifindex });
  try {
    while (!signal.aborted) {
      for (const binding of sockets.take()) onBinding(binding);
      await sleep(clock, checkEveryMs, signal).catch(() => undefined);
    }
  } finally {
    sockets.close();
  }
}

/** The hardware address of a link of this machine. */
export async function hardwareOf(link: string): Promise<string> {
  return (await findLink(link)).address;
}

const linkRecords = z.tuple([z.object({ ifindex: z.number(), address: z.string() })]);

/** Read from the network namespace of this process: files under /sys may show the links of another one. */
async function findLink(link: string): Promise<z.output<typeof linkRecords>[0]> {
  const { code, stdout, stderr } = await runProgram('ip', ['-json', 'link', 'show', 'dev', link]);
  if (code === 0) return linkRecords.parse(JSON.parse(stdout))[0];
  throw new CausewayError('unavailable', `the link ${link} can't be read`, { hint: stderr.trim() });
}
