import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  serviceKey,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import type { AddressAnnouncer } from '../announce/announcer.ts';
import type { RulesetWriter } from '../apply/ruleset-writer.ts';

/** Thrown by every external call after the simulated process was killed. */
export class Killed extends Error {}

/** A process that can be killed immediately before or after the effect of any external call. */
export class Mortality {
  readonly calls: string[] = [];
  #left: number;

  constructor(moments = Number.POSITIVE_INFINITY) {
    this.#left = moments;
  }

  /** There is one moment before the effect and one after it. */
  async call<T>(name: string, effect: () => T | Promise<T>): Promise<T> {
    this.#moment(`before ${name}`);
    const result = await effect();
    this.#moment(`after ${name}`);
    return result;
  }

  #moment(name: string): void {
    if (this.#left === 0) throw new Killed(name);
    this.calls.push(name);
    this.#left -= 1;
  }
}

/** The kernel and the link of one gateway. They outlive its agent. */
export class FakeWorld {
  readonly services = new Map<ServiceKey, VirtualService>();
  announced: ReadonlySet<Address> = new Set();
  commits = 0;
  /** The next call of each of these names fails once. */
  readonly failures = new Set<string>();

  ruleset(life: Mortality): RulesetWriter {
    return {
      commit: ({ set = [], remove = [] }) =>
        life.call('commit', () => {
          this.#fail('commit');
          for (const key of remove) this.services.delete(key);
          for (const service of set) this.services.set(serviceKey(service), service);
          return this.#committed(set.length + remove.length);
        }),
      isPresent: () => Promise.resolve(this.services.size > 0),
      replaceAll: ({ set }) =>
        life.call('replace all', () => {
          this.#fail('replace all');
          this.services.clear();
          for (const service of set) this.services.set(serviceKey(service), service);
          return this.#committed(1);
        }),
    };
  }

  announcer(life: Mortality): AddressAnnouncer {
    return {
      announced: () => Promise.resolve(this.announced),
      test: () => life.call('test', () => this.#fail('test')),
      announce: (addresses) =>
        life.call('announce', () => {
          this.#fail('announce');
          this.#announce(addresses);
        }),
      withdraw: (addresses) =>
        life.call('withdraw', () => {
          this.#fail('withdraw');
          this.#announce(this.announced.difference(addresses));
        }),
    };
  }

  #announce(addresses: ReadonlySet<Address>): void {
    this.announced = new Set(addresses);
    this.#checkServed();
  }

  /** The announced addresses and their backends as text, for comparison. */
  describe(): string {
    const services = [...this.services].map(
      ([key, service]) => `${key} ${JSON.stringify(service)}`,
    );
    return [...services.sort(), ...[...this.announced].sort()].join('\n');
  }

  #committed(size: number) {
    this.#checkServed();
    if (size > 0) this.commits += 1;
    return { wrote: size > 0, removedBackends: [] };
  }

  /** An announced address must be served at every moment. */
  #checkServed(): void {
    const served = new Set([...this.services.values()].map(({ address }) => address));
    const bare = this.announced.difference(served);
    if (bare.size > 0) throw new Error(`announced but not served: ${[...bare].join()}`);
  }

  #fail(name: string): void {
    if (this.failures.delete(name)) throw new CausewayError('unavailable', `${name} failed`);
  }
}
