import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { parsePort, type Port, type Protocol } from '@causeway/base/address/port';
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
} from '@causeway/kubernetes/objects/network-objects';

/** One endpoint of one Service port, with the properties that select it. */
export interface ServiceEndpoint {
  readonly address: Address;
  readonly port: Port;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  /** On this node. */
  readonly isLocal: boolean;
  /** Zones and nodes of its hints; empty without hints. */
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

export interface PortName {
  readonly name: string;
  readonly protocol: Protocol;
}

/**
 * The endpoints of one Service port in one address family, from all slices of the Service. The same address
 * and port in two slices is one endpoint. Endpoints that can't be parsed are left out.
 */
export function endpointsOfPort(
  slices: Iterable<EndpointSlice>,
  wanted: PortName,
  family: Family,
  nodeName: string,
): ServiceEndpoint[] {
  const found = new Map<string, ServiceEndpoint>();
  for (const slice of slices) {
    if (slice.addressType !== `IPv${family}`) continue;
    for (const port of slice.ports ?? []) {
      const number = portNumber(port, wanted);
      if (number === undefined) continue;
      for (const endpoint of slice.endpoints ?? []) {
        const read = readEndpoint(endpoint, number, family, nodeName);
        if (read === undefined) continue;
        const id = `${read.address} ${number}`;
        if (!found.has(id) || read.isLocal) found.set(id, read);
      }
    }
  }
  return [...found.values()];
}

/** Number of ready addresses on this node, in the family that has most. */
export function countLocalEndpoints(slices: Iterable<EndpointSlice>, nodeName: string): number {
  const found = { IPv4: new Set<string>(), IPv6: new Set<string>(), FQDN: new Set<string>() };
  for (const { addressType, endpoints } of slices) {
    for (const { addresses, conditions, nodeName: at } of endpoints ?? []) {
      const [address] = addresses;
      if (at !== nodeName || conditions?.ready === false || address === undefined) continue;
      found[addressType].add(address);
    }
  }
  return Math.max(found.IPv4.size, found.IPv6.size);
}

function portNumber(port: EndpointPort, wanted: PortName): Port | undefined {
  if ((port.name ?? '') !== wanted.name || (port.protocol ?? 'TCP') !== wanted.protocol) {
    return undefined;
  }
  const { port: number } = port;
  return number === undefined || number < 1 || number > 65_535 ? undefined : parsePort(number);
}

function readEndpoint(
  endpoint: Endpoint,
  port: Port,
  family: Family,
  nodeName: string,
): ServiceEndpoint | undefined {
  // Consumers of EndpointSlices use only the first address.
  const address = tryParseAddress(endpoint.addresses[0] ?? '');
  if (address === undefined || familyOf(address) !== family) return undefined;
  const { ready, serving, terminating } = endpoint.conditions ?? {};
  return {
    address,
    port,
    isReady: ready ?? true,
    isServing: serving ?? ready ?? true,
    isTerminating: terminating ?? false,
    isLocal: endpoint.nodeName === nodeName,
    zones: endpoint.hints?.forZones?.map(({ name }) => name) ?? [],
    nodes: endpoint.hints?.forNodes?.map(({ name }) => name) ?? [],
  };
}
