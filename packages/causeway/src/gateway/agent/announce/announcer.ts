import type { Address } from '@causeway/base/address/address';

/** Makes this gateway hold the served addresses while it is active. */
export interface Announcer {
  /** The addresses announced last, possibly by an earlier process that was interrupted. */
  announced(): Promise<ReadonlySet<Address>>;
  /** Checks that these addresses can be announced. Changes nothing. */
  test(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
  /** Announces exactly these addresses. Resolves after the announcement is verified. */
  announce(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void>;
}

/** Another system moves the addresses: a router, a cloud or an operator's own keepalived. */
export const foreignMover: Announcer = {
  announced: () => Promise.resolve(new Set()),
  test: () => Promise.resolve(),
  announce: () => Promise.resolve(),
};
