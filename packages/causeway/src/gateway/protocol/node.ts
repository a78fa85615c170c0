import type { Address } from '@causeway/base/address/address';

/** A node that a gateway reaches by node port. */
export interface GatewayNode {
  readonly address: Address;
}
