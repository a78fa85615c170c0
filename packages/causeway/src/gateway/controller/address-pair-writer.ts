import type { Address } from '@causeway/base/address/address';

/** How one gateway stands with the network around it, in words for an operator. */
export interface AddressPairReport {
  readonly gateway: string;
  readonly isFine: boolean;
  readonly text: string;
}

/**
 * What the network around the gateways lets them use. Where it can be changed from here, a gateway can
 * be fenced although it does not answer.
 */
export interface AddressPairWriter {
  /** Whether single addresses can be taken from a gateway, or only all of them at once. */
  readonly grain: 'address' | 'gateway';
  /** Whether the gateway's way is known to be open to the address. */
  isOpen(gateway: string, address: Address): boolean;
  /** Whether it can be shut from here. */
  canShut(gateway: string): boolean;
  /** Looks how everything stands. */
  inspect(signal: AbortSignal): Promise<readonly AddressPairReport[]>;
  /** Lets the gateway use these addresses, among others. Throws where some can't be, after the others were. */
  open(gateway: string, addresses: Iterable<Address>, signal: AbortSignal): Promise<void>;
  /** Takes these addresses from the gateway; where all go at once, all of ours. Others may still let it use them. */
  shut(gateway: string, addresses: Iterable<Address>, signal: AbortSignal): Promise<void>;
  /** Right after shutting: what still lets the gateway use one of these addresses, if anything does. */
  leftOpen(gateway: string, addresses: Iterable<Address>): string | undefined;
}

/** Nothing stands between the gateways and their addresses, and nothing can be put there. */
export const alwaysOpen: AddressPairWriter = {
  grain: 'gateway',
  isOpen: () => true,
  canShut: () => false,
  inspect: () => Promise.resolve([]),
  open: () => Promise.resolve(),
  shut: () => Promise.resolve(),
  leftOpen: () => undefined,
};
