import type { Address } from '@causeway/base/address/address';

/** An address that a Service of a site holds, as a platform knows it: whose it is may change. */
export interface PlatformAddress {
  readonly site: string;
  readonly address: Address;
}

/**
 * What an infrastructure has to do so that an address can be used in it. It needs secrets that no
 * cluster has, so it is done by the server. Every call may be repeated, may come late, and may come
 * after one that was cut off.
 */
export interface PlatformDriver {
  /** Makes what the address needs; answers with what clients reach, where that is another one. */
  ensure(address: PlatformAddress, note: string, signal: AbortSignal): Promise<Address | undefined>;
  /** Takes all of it away. What is gone already is gone. */
  delete(address: PlatformAddress, signal: AbortSignal): Promise<void>;
  /** The addresses that it has made something for, of every site of this ledger and of no other ledger's. */
  list(signal: AbortSignal): Promise<readonly PlatformAddress[]>;
}

/** Addresses that work as they are. */
export const plainPlatform: PlatformDriver = {
  ensure: () => Promise.resolve(undefined),
  delete: () => Promise.resolve(),
  list: () => Promise.resolve([]),
};
