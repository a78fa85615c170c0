import { familyOf, tryParseAddress, type Address } from '../domain/address.ts';
import { parsePort } from '../domain/port.ts';
import type { Service, ServicePort } from '../kube/core-objects.ts';
import type { EndpointSlice } from '../kube/network-objects.ts';
import type { Dispatch, Endpoint } from '../nftables/virtual-service.ts';
import type { Target } from './address-claims.ts';
import { chooseEndpoints } from './choose-endpoints.ts';
import { endpointsOfPort, type ServiceEndpoint } from './service-endpoints.ts';
import { portId, type Diversion } from './service-proxy.ts';

/** What a translation depends on beside the Service itself. */
export interface NodeContext {
  readonly name: string;
  readonly zone: string | undefined;
}

export interface TranslationInput {
  readonly service: Service;
  readonly slices: Iterable<EndpointSlice>;
  readonly diversion: Diversion | undefined;
  readonly node: NodeContext;
}

/** What this node is to do for a Service: a pure function. */
export function translateService(input: TranslationInput): Target[] {
  const { service } = input;
  const addresses = clusterAddresses(service);
  return (service.spec?.ports ?? []).flatMap((port) =>
    addresses.map((address) => clusterTarget(input, port, address)),
  );
}

function clusterTarget(input: TranslationInput, port: ServicePort, address: Address): Target {
  const { slices, node, diversion } = input;
  const protocol = port.protocol ?? 'TCP';
  const wanted = { name: port.name ?? '', protocol };
  const endpoints = endpointsOfPort(slices, wanted, familyOf(address), node.name);
  const placement = { nodeName: node.name, zone: node.zone, usesCluster: true, usesLocal: false };
  const { cluster } = chooseEndpoints(endpoints, placement);
  const dispatch: Dispatch =
    diversion?.kind === 'park'
      ? { kind: 'hold', logGroup: diversion.logGroup }
      : { kind: 'slots', endpoints: cluster.map(asEndpoint) };
  return {
    port: portId(protocol, port.port),
    origin: 'cluster',
    virtual: { address, protocol, port: parsePort(port.port), dispatch },
  };
}

function asEndpoint({ address, port }: ServiceEndpoint): Endpoint {
  return { address, port };
}

/** None for headless Services and those that are only a name. */
function clusterAddresses({ spec }: Service): Address[] {
  if (spec === undefined || spec.type === 'ExternalName') return [];
  const texts = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  return texts.map(tryParseAddress).filter((address) => address !== undefined);
}
