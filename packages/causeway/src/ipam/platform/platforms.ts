import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { KeyedQueue } from '@causeway/base/work/keyed-queue';
import type { Allocator } from '../allocator.ts';
import type { Reservation } from '../reservation.ts';
import { describeOwner } from '../reservation.ts';
import { plainPlatform, type PlatformAddress, type PlatformDriver } from './platform-driver.ts';

/** By the platform name in the pools. */
export type PlatformDrivers = ReadonlyMap<string, PlatformDriver>;

export interface PlatformsOptions {
  readonly allocator: Allocator;
  readonly drivers: PlatformDrivers;
  readonly clock: Clock;
  readonly log: Log;
  readonly sweepEveryMs: number;
}

/**
 * Keeps the platforms in step with the ledger, which alone decides about the owner of an address. Resources
 * of an address without an owner are deleted. If the address gets an owner in the meantime, they are created
 * again.
 */
export class Platforms {
  readonly #options: PlatformsOptions;
  /** One operation at a time for each address. */
  readonly #keyedQueue = new KeyedQueue();

  constructor(options: PlatformsOptions) {
    this.#options = options;
  }

  /**
   * The address that clients connect to, for each address of the reservation; undefined if it is the same.
   */
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

  /** Runs before the release: deletes the resources that only this owner uses. */
  async release(reservation: Reservation, signal: AbortSignal): Promise<void> {
    const { site, uid } = reservation;
    for (const { address, pool } of reservation.addresses) {
      const driver = this.#driverOf(site, pool);
      if (driver !== plainPlatform) await this.#remove({ site, address }, driver, uid, signal);
    }
  }

  /** Runs after the release: an owner that joined in the meantime gets the deleted resources again. */
  async restore(reservation: Reservation, signal: AbortSignal): Promise<void> {
    const { site } = reservation;
    for (const { address, pool } of reservation.addresses) {
      const driver = this.#driverOf(site, pool);
      if (driver === plainPlatform) continue;
      if (!(await this.#isHeld({ site, address }, undefined, signal))) continue;
      await driver.ensure({ site, address }, 'shared', signal);
    }
  }

  /** Sweeps the remains of removed clusters and interrupted calls. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, drivers, sweepEveryMs } = this.#options;
    while (!signal.aborted) {
      for (const [platform, driver] of drivers) {
        try {
          await this.#sweep(driver, signal);
        } catch (error) {
          if (signal.aborted) return;
          const { message } = CausewayError.from(error);
          log.warn({ platform, problem: message }, 'sweep of a platform failed');
        }
      }
      await sleep(clock, sweepEveryMs, signal);
    }
  }

  /** A driver lists only resources of this ledger, also for a pool that was removed. */
  async #sweep(driver: PlatformDriver, signal: AbortSignal): Promise<void> {
    for (const key of await driver.list(signal)) {
      const site = this.#options.allocator.view.site(key.site)?.site?.record;
      // A ledger that was restored or moved does not know all reservations under its name.
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
      // Another server may have assigned the address in between.
      if (await this.#isHeld(key, except, signal)) await driver.ensure(key, 'restored', signal);
    };
    await this.#keyedQueue.run(queueKeyOf(key), remove, signal);
  }

  /** Whether the address has an owner, apart from the given one. */
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
