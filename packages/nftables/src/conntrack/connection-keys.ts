import { addressBytes, type Address } from '@causeway/base/address/address';
import type { Tracked } from './tracked-connection.ts';

/** An address in the form of a tuple. */
export function binary(address: Address): string {
  return Buffer.from(addressBytes(address)).toString('latin1');
}

/** A virtual address and port as a key. */
export function frontendId(protocol: number, virtual: string, virtualPort: number): string {
  return `${protocol} ${virtual} ${virtualPort}`;
}

/** A virtual address and port, and the backend of a connection to it, as a key. */
export function pathId(
  protocol: number,
  backend: string,
  port: number,
  virtual: string,
  virtualPort: number,
): string {
  return `${protocol} ${backend} ${port} ${virtual} ${virtualPort}`;
}

/** The path of a connection that the client opened. */
export function forwardPath({ original, reply }: Tracked): string {
  const { protocol, destination, destinationPort } = original;
  return pathId(protocol, reply.source, reply.sourcePort, destination, destinationPort);
}

/** The path of a connection that was picked up from the server's side. */
export function backwardPath({ original, reply }: Tracked): string {
  const { protocol, source, sourcePort } = original;
  return pathId(protocol, source, sourcePort, reply.destination, reply.destinationPort);
}
