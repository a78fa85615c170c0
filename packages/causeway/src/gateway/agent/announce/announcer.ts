import type { Address } from '@causeway/base/address/address';

/** Sees to it that this gateway holds the served addresses when it is its turn to. */
export interface Announcer {
  /** What was announced last, perhaps by an earlier process that was interrupted. */
  announced(): Promise<ReadonlySet<Address>>;
  /** Checks that these addresses can be announced. Changes nothing. */
  test(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
  /** Announces exactly these from now on, and has made sure of it when it resolves. */
  announce(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
}

/** Something else moves the addresses: a router, a cloud, an operator's own keepalived. */
export const foreignMover: Announcer = {
  announced: () => Promise.resolve(new Set()),
  test: () => Promise.resolve(),
  announce: () => Promise.resolve(),
};
