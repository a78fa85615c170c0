import type { ListenOptions } from 'node:net';

/**
 * Where a server listens. Without an address Node takes all of the machine, and those of IPv4 where the
 * kernel has no IPv6 (`ipv6.disable=1`); an address that is named has to be there.
 */
export function listenPlace(port: number, host?: string): ListenOptions {
  return host === undefined || host === '::' ? { port } : { port, host };
}
