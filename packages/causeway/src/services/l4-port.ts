import type { Port, Protocol } from '@causeway/base/address/port';

/** A protocol and a port of an address. Two Services that share an address can't have the same one. */
export interface L4Port {
  readonly protocol: Protocol;
  readonly port: Port;
}
