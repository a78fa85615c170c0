import { CausewayError } from '../error/causeway-error.ts';
import type { Log } from '../observability/log.ts';

export type Loop = (signal: AbortSignal) => Promise<void>;

/**
 * Runs loops concurrently until the signal fires. A loop that throws, or that ends without being stopped,
 * ends the others too: the process must not run in part. Resolves when every loop has ended, and throws the
 * first failure with the loop's name. Logs a failure at once, because other loops can take time to end.
 */
export async function supervise(
  signal: AbortSignal,
  loops: Readonly<Record<string, Loop>>,
  log?: Log,
): Promise<void> {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const failures: CausewayError[] = [];
  const fail = (name: string, message: string, cause?: unknown) => {
    const { code, hint } = CausewayError.from(cause ?? message);
    const options = hint === undefined ? { cause } : { cause, hint };
    const failure = new CausewayError(code, `${name}: ${message}`, options);
    failures.push(failure);
    if (!controller.signal.aborted)
      log?.error({ error: failure }, 'a loop failed, stopping the others');
    controller.abort(failures[0]);
  };
  const run = async (name: string, loop: Loop) => {
    try {
      await loop(controller.signal);
      if (!controller.signal.aborted) fail(name, 'ended without being stopped');
    } catch (error) {
      if (controller.signal.aborted && CausewayError.from(error).code === 'aborted') return;
      fail(name, CausewayError.from(error).message, error);
    }
  };
  await Promise.all(Object.entries(loops).map(([name, loop]) => run(name, loop)));
  signal.removeEventListener('abort', stop);
  if (failures[0] !== undefined) throw failures[0];
}
