import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort, type Protocol } from '../../../packages/base/src/address/port.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import {
  makeFrontend,
  type Frontend,
  type FrontendParts,
} from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import type { StateContent } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { serverPort, servers } from './topology.ts';

export type ServerName = keyof typeof servers;

/** A frontend on port 80 that leads to these servers, on the port at this offset from their first. */
export function frontend(
  address: string,
  protocol: Protocol,
  to: readonly ServerName[],
  more: Partial<FrontendParts> = {},
  offset = 0,
): Frontend {
  const family = address.includes(':') ? 'v6' : 'v4';
  return makeFrontend({
    address: parseAddress(address),
    protocol,
    port: parsePort(80),
    destinations: to.map((name) => ({
      address: parseAddress(servers[name][family]),
      port: parsePort(serverPort + offset),
      weight: 1,
    })),
    ...more,
  });
}

export function ranges(...texts: string[]): Pick<FrontendParts, 'sourceRanges'> {
  return { sourceRanges: texts.map(parsePrefix) };
}

export const nothing: StateContent = { frontends: [], policies: [], assignments: [], nodes: [] };
