import net from 'node:net';
import type { Clock } from '@causeway/base/time/clock';
import type { ProbeTarget } from './targets.ts';

/** Errors that only an answer of the other side can bring about. */
const answers = new Set(['ECONNREFUSED', 'ECONNRESET']);

/**
 * Whether anything answers a connection attempt within the limit. A connection that comes about is
 * reset at once, so that it costs the other side no state.
 */
export function probeTcp(
  clock: Clock,
  target: ProbeTarget,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: target.address, port: target.port });
    const finish = (answered: boolean) => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      // Node resets a socket that still connects only once it is connected, which may never happen.
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
      resolve(answered);
    };
    const onAbort = () => finish(false);
    // What has arrived while this process was kept from running is looked at first.
    const timer = clock.timer(limitMs, () => setImmediate(finish, false));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => finish(true));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(answers.has(error.code ?? '')));
  });
}
