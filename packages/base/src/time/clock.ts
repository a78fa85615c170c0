import { CausewayError } from '../error/causeway-error.ts';

/**
 * The source of time, injected. Only this file reads the system's time or sets a timer, so that tests and the
 * simulation control the clock.
 */
export interface Clock {
  /** Milliseconds since 1970, for people and other machines. May jump. */
  wallTime(): number;
  /** Milliseconds that never go backward, for durations, deadlines and leases. */
  monotonic(): number;
  /** Calls back once after the delay, unless canceled. */
  timer(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** The longest delay that the platform's timers accept. Longer delays are split. */
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

/** Calls back after the delay, without keeping the process alive for it. */
export function ifStillAlive(delayMs: number, callback: () => void): void {
  setTimeout(callback, delayMs).unref();
}

/** Waits, or rejects at once with `aborted` when the signal fires. Leaves no timer. */
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

/** The error of an aborted wait. The signal's own reason is its cause. */
export function abortedBy(signal: AbortSignal | undefined): CausewayError {
  const reason: unknown = signal?.reason;
  if (reason instanceof CausewayError) return reason;
  return new CausewayError('aborted', 'the operation was aborted', { cause: reason });
}
