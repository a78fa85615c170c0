import type { Address } from '@causeway/base/address/address';

/** The state of one gateway's network port, described for an operator. */
export interface AddressPairReport {
  readonly gateway: string;
  readonly isFine: boolean;
  readonly text: string;
}

/**
 * The addresses that the network lets the gateways use. If Causeway can change this, it can fence a gateway
 * that does not answer.
 */
export interface AddressPairWriter {
  /** Whether single addresses can be blocked on a gateway, or only all of them at once. */
  readonly grain: 'address' | 'gateway';
  /** Whether the network is known to let the gateway use the address. */
  isOpen(gateway: string, address: Address): boolean;
  /** Whether Causeway can block addresses of the gateway. */
  canShut(gateway: string): boolean;
  /** Reads the state of all gateways' ports. */
  inspect(signal: AbortSignal): Promise<readonly AddressPairReport[]>;
  /** Lets the gateway also use these addresses. If some fail, it allows the others and throws. */
  open(gateway: string, addresses: Iterable<Address>, signal: AbortSignal): Promise<void>;
  /**
   * Blocks these addresses on the gateway, or all of Causeway's addresses if they can't be blocked singly.
   * Pairs of other tools may still allow them.
   */
  shut(gateway: string, addresses: Iterable<Address>, signal: AbortSignal): Promise<void>;
  /**
   * Called right after `shut`: the reason why the gateway can still use one of these addresses, or undefined.
   */
  leftOpen(gateway: string, addresses: Iterable<Address>): string | undefined;
}

/** The network lets the gateways use all addresses and can't block any. */
export const alwaysOpen: AddressPairWriter = {
  grain: 'gateway',
  isOpen: () => true,
  canShut: () => false,
  inspect: () => Promise.resolve([]),
  open: () => Promise.resolve(),
  shut: () => Promise.resolve(),
  leftOpen: () => undefined,
};
