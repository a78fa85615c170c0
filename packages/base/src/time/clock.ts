import { CausewayError } from '../error/causeway-error.ts';

/**
 * Time, injected. Nothing outside this file asks the system for the time or sets a timer,
 * so that tests can hold the clock and the deterministic scheduler can drive it.
 */
export interface Clock {
  /** Milliseconds since 1970, for what people and other machines read. May jump. */
  wallTime(): number;
  /** Milliseconds that only ever go forward, for durations, deadlines and leases. */
  monotonic(): number;
  /** Calls back once after the delay unless cancelled first. */
  timer(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** The longest delay that the platform's timers take; longer ones are waited for in pieces. */
const longestDelayMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  wallTime: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, callback) {
    let handle: NodeJS.Timeout;
    const arm = (restMs: number) => {
      const step = Math.min(Math.max(restMs, 0), longestDelayMs);
      handle = setTimeout(() => (restMs > step ? arm(restMs - step) : callback()), step);
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Calls back if the process is still alive by then, which this alone does not keep it. */
export function ifStillAlive(delayMs: number, callback: () => void): void {
  setTimeout(callback, delayMs).unref();
}

/** Waits, or rejects at once with `aborted` when the signal fires. Leaves no timer behind. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortedBy(signal));
      return;
    }
    const onAbort = () => {
      timer.cancel();
      reject(abortedBy(signal));
    };
    const timer = clock.timer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The error that an aborted wait rejects with; the signal's own reason stays visible as the cause. */
export function abortedBy(signal: AbortSignal | undefined): CausewayError {
  const reason: unknown = signal?.reason;
  if (reason instanceof CausewayError) return reason;
  return new CausewayError('aborted', 'the operation was aborted', { cause: reason });
}
