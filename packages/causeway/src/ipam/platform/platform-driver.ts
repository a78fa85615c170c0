import type { Address } from '@causeway/base/address/address';

/** An address of a Service of a site, in a platform. Its owner may change. */
export interface PlatformAddress {
  readonly site: string;
  readonly address: Address;
}

/**
 * Prepares an infrastructure so that an address can be used in it. This needs secrets that no cluster has, so
 * the server does it. Every call may be repeated, may come late, and may follow an interrupted call.
 */
export interface PlatformDriver {
  /**
   * Creates the resources of the address. Returns the address that clients connect to, if it is a different
   * one.
   */
  ensure(address: PlatformAddress, note: string, signal: AbortSignal): Promise<Address | undefined>;
  /** Deletes all resources of the address. Missing resources are not an error. */
  delete(address: PlatformAddress, signal: AbortSignal): Promise<void>;
  /** The addresses with resources, of every site of this ledger and of no other ledger. */
  list(signal: AbortSignal): Promise<readonly PlatformAddress[]>;
}

/** For addresses that need no preparation. */
export const plainPlatform: PlatformDriver = {
  ensure: () => Promise.resolve(undefined),
  delete: () => Promise.resolve(),
  list: () => Promise.resolve([]),
};
