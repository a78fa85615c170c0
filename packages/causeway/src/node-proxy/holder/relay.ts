import net from 'node:net';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';

export interface Destination {
  readonly address: string;
  readonly port: number;
}

/** Delays between attempts to reach a Service that has just woken. */
const dialDelaysMs = [250, 500, 1_000, 2_000] as const;
const dialTimeoutMs = 10_000;

/** Connects, and retries while the Service becomes ready. */
export async function dial(
  destination: Destination,
  clock: Clock,
  signal: AbortSignal,
): Promise<net.Socket> {
  for (const delayMs of dialDelaysMs) {
    try {
      return await dialOnce(destination, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(clock, delayMs, signal);
    }
  }
  return dialOnce(destination, signal);
}

function dialOnce({ address, port }: Destination, signal: AbortSignal): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const fail = (error: Error) => {
      socket.destroy();
      reject(CausewayError.from(error));
    };
    const onAbort = () => fail(new CausewayError('aborted', 'the client has gone'));
    socket.setTimeout(dialTimeoutMs, () => fail(new CausewayError('timeout', 'no answer')));
    // The listener stays, so that the socket has one until its new owner adds others.
    socket.once('error', fail);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

/**
 * Forwards bytes both ways until both sides have ended. The end of one direction ends that direction only. A
 * reset on one side resets the other. A slow reader slows down the writer.
 */
export function relay(left: net.Socket, right: net.Socket): Promise<void> {
  const one = (from: net.Socket, to: net.Socket) =>
    new Promise<void>((resolve) => {
      from.on('error', () => to.resetAndDestroy());
      from.once('close', () => {
        // A socket that closed without an end was reset.
        if (!from.readableEnded && !to.destroyed) to.resetAndDestroy();
        resolve();
      });
      from.pipe(to);
    });
  return Promise.all([one(left, right), one(right, left)]).then(() => {});
}
