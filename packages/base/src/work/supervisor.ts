import { CausewayError } from '../error/causeway-error.ts';
import type { Log } from '../observability/log.ts';

export type Loop = (signal: AbortSignal) => Promise<void>;

/**
 * Runs loops side by side until the signal fires. A loop that throws, or that ends although nobody
 * asked it to, ends the others too: half a process is worse than none. Answers only when every loop
 * has ended, and throws the first failure with the loop's name. With a log it is said at once: another loop
 * may take its time to end.
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
      log?.error({ error: failure }, 'a part has failed, and the others are ended');
    controller.abort(failures[0]);
  };
  const run = async (name: string, loop: Loop) => {
    try {
      await loop(controller.signal);
      if (!controller.signal.aborted) fail(name, 'ended although nobody stopped it');
    } catch (error) {
      if (controller.signal.aborted && CausewayError.from(error).code === 'aborted') return;
      fail(name, CausewayError.from(error).message, error);
    }
  };
  await Promise.all(Object.entries(loops).map(([name, loop]) => run(name, loop)));
  signal.removeEventListener('abort', stop);
  if (failures[0] !== undefined) throw failures[0];
}
