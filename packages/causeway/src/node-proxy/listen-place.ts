import type { ListenOptions } from 'node:net';

/**
 * Options for a server's listening socket. Without an address Node uses all addresses, and those of IPv4 if
 * the kernel has no IPv6 (`ipv6.disable=1`). A configured address must exist.
 */
export function listenPlace(port: number, host?: string): ListenOptions {
  return host === undefined || host === '::' ? { port } : { port, host };
}
