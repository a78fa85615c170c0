import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Allocator } from '../allocator.ts';
import { KeyedQueue } from '../keyed-queue.ts';
import type { Reservation } from '../reservation.ts';
import { describeOwner } from '../reservation.ts';
import { plainPlatform, type PlatformAddress, type PlatformDriver } from './platform-driver.ts';

/** By the name that pools call it. */
export type PlatformDrivers = ReadonlyMap<string, PlatformDriver>;

export interface PlatformsOptions {
  readonly allocator: Allocator;
  readonly drivers: PlatformDrivers;
  readonly clock: Clock;
  readonly log: Log;
  readonly sweepEveryMs: number;
}

/**
 * Keeps the platforms in step with the ledger, which alone decides who holds an address. What a
 * platform has for an address that nobody holds is taken away; one that somebody has come to hold
 * meanwhile gets it again.
 */
export class Platforms {
  readonly #options: PlatformsOptions;
  /** One thing at a time for an address. */
  readonly #keyedQueue = new KeyedQueue();

  constructor(options: PlatformsOptions) {
    this.#options = options;
  }

  /** What clients reach, for each address of the reservation; undefined where it is the address itself. */
  async ensure(
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Address, Address | undefined>> {
    const reached = new Map<Address, Address | undefined>();
    for (const { address, pool } of reservation.addresses) {
      const driver = this.#driverOf(reservation.site, pool);
      const key = { site: reservation.site, address };
      const note = `${reservation.cluster}, ${describeOwner(reservation)}`;
      const ensure = () => driver.ensure(key, note, signal);
      reached.set(address, await this.#keyedQueue.run(queueKeyOf(key), ensure, signal));
    }
    return reached;
  }

  /** Before the owner frees: takes away what only it uses. */
  async release(reservation: Reservation, signal: AbortSignal): Promise<void> {
    const { site, uid } = reservation;
    for (const { address, pool } of reservation.addresses) {
      const driver = this.#driverOf(site, pool);
      if (driver !== plainPlatform) await this.#remove({ site, address }, driver, uid, signal);
    }
  }

  /** After the owner has freed: whoever joined meanwhile gets back what was taken away. */
  async restore(reservation: Reservation, signal: AbortSignal): Promise<void> {
    const { site } = reservation;
    for (const { address, pool } of reservation.addresses) {
      const driver = this.#driverOf(site, pool);
      if (driver === plainPlatform) continue;
      if (!(await this.#isHeld({ site, address }, undefined, signal))) continue;
      await driver.ensure({ site, address }, 'shared', signal);
    }
  }

  /** Sweeps what was left over: by removed clusters, and by calls that were cut off. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, drivers, sweepEveryMs } = this.#options;
    while (!signal.aborted) {
      for (const [platform, driver] of drivers) {
        try {
          await this.#sweep(driver, signal);
        } catch (error) {
          if (signal.aborted) return;
          const { message } = CausewayError.from(error);
          log.warn({ platform, problem: message }, 'a platform could not be swept');
        }
      }
      await sleep(clock, sweepEveryMs, signal);
    }
  }

  /** A driver lists what this ledger made alone: also for a pool that is no more. */
  async #sweep(driver: PlatformDriver, signal: AbortSignal): Promise<void> {
    for (const key of await driver.list(signal)) {
      const site = this.#options.allocator.view.site(key.site)?.site?.record;
      // A ledger that was put back, or moved away, does not know all that is held under its name.
      if (site === undefined || site.suspended !== undefined) continue;
      await this.#remove(key, driver, undefined, signal);
    }
  }

  async #remove(
    key: PlatformAddress,
    driver: PlatformDriver,
    except: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const remove = async () => {
      if (await this.#isHeld(key, except, signal)) return;
      await driver.delete(key, signal);
      // Another server may have given it to somebody in between.
      if (await this.#isHeld(key, except, signal)) await driver.ensure(key, 'restored', signal);
    };
    await this.#keyedQueue.run(queueKeyOf(key), remove, signal);
  }

  /** Whether anybody holds the address, apart from one owner. */
  async #isHeld(
    { site, address }: PlatformAddress,
    except: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { allocator } = this.#options;
    return allocator.read(
      { caller: 'system', needs: { kind: 'operator' } },
      (view) => {
        const siteView = view.site(site);
        const record = siteView?.addresses.get(address)?.record;
        if (record?.state !== 'held' || siteView?.restOf(address) !== undefined) return false;
        return record.owners.some(({ uid }) => uid !== except);
      },
      signal,
    );
  }

  #driverOf(site: string, pool: string): PlatformDriver {
    const specs = this.#options.allocator.view.site(site)?.site?.record.pools ?? [];
    const platform = specs.find(({ name }) => name === pool)?.platform;
    if (platform === undefined) return plainPlatform;
    const driver = this.#options.drivers.get(platform);
    if (driver !== undefined) return driver;
    throw new CausewayError('unavailable', `this server has no platform ${platform}`, {
      hint: 'Configure it under "platforms", on every server.',
    });
  }
}

function queueKeyOf({ site, address }: PlatformAddress): string {
  return `${site}/${address}`;
}
