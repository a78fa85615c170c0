import net from 'node:net';
import type { Clock } from '@causeway/base/time/clock';
import type { ProbeTarget } from './targets.ts';

/** Errors that only a reply of the remote side can cause. */
const answers = new Set(['ECONNREFUSED', 'ECONNRESET']);

/**
 * Whether there is any reply to a connection attempt within the limit. An established connection is reset at
 * once, so that the remote side keeps no state.
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
      // Node resets a connecting socket only after it is connected, which may never happen.
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
      resolve(answered);
    };
    const onAbort = () => finish(false);
    // Replies that arrived while this process was blocked are processed first.
    const timer = clock.timer(limitMs, () => setImmediate(finish, false));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => finish(true));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(answers.has(error.code ?? '')));
  });
}
