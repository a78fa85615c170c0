import { tryParseAddress } from '../domain/address.ts';
import { parsePort, protocols } from '../domain/port.ts';
import { protocolNumbers } from '../nftables/operands.ts';
import type { EndpointId } from './model/endpoint.ts';

/** The endpoint that an element of the counting sets is about: `192.0.2.1 . 6 . 80`. */
export function endpointOfCounter(id: string): EndpointId | undefined {
  const [text = '', number, port] = id.split(' . ');
  const address = tryParseAddress(text);
  const protocol = protocols.find((name) => String(protocolNumbers[name]) === number);
  if (address === undefined || protocol === undefined) return undefined;
  return { address, protocol, port: parsePort(Number(port)) };
}
