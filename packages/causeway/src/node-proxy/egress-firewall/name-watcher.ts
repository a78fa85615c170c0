import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock, Timer } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import { systemRandom, type Random } from '@causeway/base/simulation/random';

export interface Resolution {
  readonly addresses: readonly Address[];
  readonly ttlMs: number;
}

/** Resolves a name in both families; throws if that fails. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<Resolution>;

export interface NameWatcherOptions {
  readonly resolve: ResolveName;
  /** Called when the addresses of the name changed; undefined if the name is not watched any more. */
  readonly onChange: (name: string, addresses: ReadonlySet<Address> | undefined) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: Random;
}

interface Watched {
  readonly stop: AbortController;
  addresses: ReadonlySet<Address> | undefined;
  failures: number;
  timer?: Timer;
  /** Resolves when the first lookup has succeeded or failed. */
  readonly tried: PromiseWithResolvers<void>;
}

const shortestMs = 5_000;
const longestMs = 30 * 60_000;
const lookupMs = 5_000;
const retryPace: BackoffPolicy = { baseMs: 1_000, maxMs: 60_000, jitter: 0.2 };

/**
 * Follows the addresses of names while they are watched. A slow name does not delay the others. A failed
 * lookup is retried, including the first; known addresses stay.
 */
export class NameWatcher {
  readonly #options: NameWatcherOptions;
  readonly #names = new Map<string, Watched>();

  constructor(options: NameWatcherOptions) {
    this.#options = options;
  }

  /** Sets the names to follow. */
  watch(names: ReadonlySet<string>): void {
    for (const [name, watched] of this.#names) {
      if (names.has(name)) continue;
      this.#drop(name, watched);
      if (watched.addresses !== undefined) this.#options.onChange(name, undefined);
    }
    for (const name of names) {
      if (this.#names.has(name)) continue;
      const watched: Watched = {
        stop: new AbortController(),
        addresses: undefined,
        failures: 0,
        tried: Promise.withResolvers(),
      };
      this.#names.set(name, watched);
      void this.#check(name, watched);
    }
  }

  /** Resolves when the first lookup of each name has succeeded or failed. */
  async tried(): Promise<void> {
    await Promise.all([...this.#names.values()].map(({ tried }) => tried.promise));
  }

  /** Follows no name any more. The known addresses stay valid, so that the rules do not change. */
  close(): void {
    for (const [name, watched] of this.#names) this.#drop(name, watched);
  }

  #drop(name: string, watched: Watched): void {
    watched.stop.abort();
    watched.timer?.cancel();
    watched.tried.resolve();
    this.#names.delete(name);
  }

  async #check(name: string, watched: Watched): Promise<void> {
    const { resolve, clock, log, random = systemRandom } = this.#options;
    const { signal } = watched.stop;
    let delayMs: number;
    try {
      const { addresses, ttlMs } = await withDeadline(
        clock,
        lookupMs,
        signal,
        `resolving ${name}`,
        (limited) => resolve(name, limited),
      );
      watched.failures = 0;
      delayMs = Math.min(Math.max(ttlMs, shortestMs), longestMs);
      if (!signal.aborted) this.#learn(name, watched, new Set(addresses));
    } catch (thrown) {
      watched.failures += 1;
      delayMs = backoffDelay(retryPace, watched.failures, random);
      const error = CausewayError.from(thrown);
      if (!signal.aborted) {
        log.warn({ name, error, failures: watched.failures }, 'a name of the egress firewall');
      }
    }
    watched.tried.resolve();
    if (signal.aborted) return;
    watched.timer = clock.timer(delayMs, () => void this.#check(name, watched));
  }

  #learn(name: string, watched: Watched, addresses: ReadonlySet<Address>): void {
    const before = watched.addresses;
    watched.addresses = addresses;
    const isSame =
      before !== undefined &&
      before.size === addresses.size &&
      [...addresses].every((address) => before.has(address));
    if (!isSame) this.#options.onChange(name, addresses);
  }
}
