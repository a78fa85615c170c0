import { tryParseAddress } from '@causeway/base/address/address';
import { parsePort, protocols } from '@causeway/base/address/port';
import type { ElementCount } from '@causeway/nftables/drivers/driver';
import { protocolNumbers } from '@causeway/nftables/model/operands';
import type { FrontendCount } from '../protocol/agent-status.ts';
import type { ConnectionCount } from './kernel.ts';
import {
  frontendKey,
  type Frontend,
  type FrontendId,
  type FrontendKey,
} from '../protocol/frontend.ts';

type Counts = ReadonlyMap<string, Pick<ElementCount, 'packets'>>;

/**
 * Counts of each frontend. For tracked connections and for TCP, the rules count the first packet of each
 * connection. For other traffic that is sent to nodes unchanged, they count every packet.
 */
export function frontendCounts(tracked: Counts, routed: Counts): ConnectionCount[] {
  const counts: ConnectionCount[] = [];
  for (const id of new Set([...tracked.keys(), ...routed.keys()])) {
    const frontend = frontendOfCounter(id);
    if (frontend === undefined) continue;
    const connections = tracked.get(id)?.packets ?? 0n;
    const sentOn = routed.get(id)?.packets;
    if (sentOn === undefined) {
      counts.push({ ...frontend, connections: String(connections) });
    } else if (frontend.protocol === 'TCP') {
      counts.push({ ...frontend, connections: String(connections + sentOn) });
    } else {
      counts.push({ ...frontend, connections: String(connections), packets: String(sentOn) });
    }
  }
  return counts;
}

/**
 * Counts of every accepted frontend, including those without own rules, because a controller expects a
 * complete list. The Service's name is included because clients may know another address.
 */
export function countsOfAll(
  frontends: ReadonlyMap<FrontendKey, Frontend>,
  counts: readonly ConnectionCount[],
): FrontendCount[] {
  const byKey = new Map(counts.map((count) => [frontendKey(count), count]));
  const missing = [...frontends]
    .filter(([key]) => !byKey.has(key))
    .map(([, { address, protocol, port }]) => ({ address, protocol, port, connections: '0' }));
  return [...counts, ...missing].map((count) => {
    const service = frontends.get(frontendKey(count))?.service;
    return service === undefined ? count : { ...count, service };
  });
}

/** The frontend of an element of the counting sets: `192.0.2.1 . 6 . 80`. */
function frontendOfCounter(id: string): FrontendId | undefined {
  const [text = '', number, port] = id.split(' . ');
  const address = tryParseAddress(text);
  const protocol = protocols.find((name) => String(protocolNumbers[name]) === number);
  if (address === undefined || protocol === undefined) return undefined;
  return { address, protocol, port: parsePort(Number(port)) };
}
