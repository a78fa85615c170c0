import { familyOf, tryParseAddress } from '@causeway/base/address/address';
import type { KubeObject } from '../object.ts';
import { duplicate, invalid, required, tooMany, type FieldError } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { dnsLabelErrors, subdomainErrors } from '../schema/names.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { shortList } from './endpoints.ts';
import {
  validateAddress,
  validateEndpointAddress,
  validateOneOf,
  validateProtocol,
  validateQualifiedName,
  validateUnchanged,
} from './field-rules.ts';

export interface Endpoint {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  zone?: string;
  targetRef?: { kind: string; name: string; namespace: string; uid: string };
}

export interface EndpointSlicePort {
  name?: string;
  port?: number;
  protocol?: string;
  appProtocol?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints?: Endpoint[] | null;
  ports?: EndpointSlicePort[] | null;
}

const mostEndpoints = 1000;
const mostAddresses = 100;
const mostPorts = 20_000;

export const endpointSlices = builtIn<EndpointSlice>({
  group: 'discovery.k8s.io',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  countsGeneration: true,
  columns: [
    nameColumn,
    column<EndpointSlice>('AddressType', ({ addressType }) => addressType),
    column<EndpointSlice>('Ports', ({ ports }) =>
      shortList(
        (ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port))),
        '<unset>',
      ),
    ),
    column<EndpointSlice>('Endpoints', ({ endpoints }) =>
      shortList(
        (endpoints ?? []).flatMap(({ addresses }) => addresses),
        '<unset>',
      ),
    ),
    ageColumn,
  ],
  defaults(draft) {
    for (const port of draft.ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
    for (const endpoint of draft.endpoints ?? []) endpoint.conditions ??= {};
  },
  prepareCreate: fillUnset,
  prepareUpdate: fillUnset,
  validate(object, old) {
    const endpointErrors = validateEndpoints(object);
    const isOld = old !== undefined && jsonEqual(object.endpoints, old.endpoints);
    return [
      ...validateOneOf(object.addressType, ['FQDN', 'IPv4', 'IPv6'], 'addressType'),
      ...validatePorts(object.ports ?? []),
      ...(isOld ? [] : endpointErrors),
      ...(old === undefined
        ? []
        : validateUnchanged(object.addressType, old.addressType, 'addressType')),
    ];
  },
});

/** This kind writes an empty list as null. */
function fillUnset(draft: EndpointSlice): void {
  draft.endpoints ??= null;
  draft.ports ??= null;
}

function validatePorts(ports: readonly EndpointSlicePort[]): FieldError[] {
  if (ports.length > mostPorts) return [tooMany('ports', ports.length, mostPorts)];
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `ports[${index}]`;
    const name = port.name ?? '';
    const errors =
      name === '' ? [] : dnsLabelErrors(name).map((why) => invalid(`${path}.name`, name, why));
    if (seen.has(name)) errors.push(duplicate(`${path}.name`, name));
    seen.add(name);
    errors.push(...validateProtocol(port.protocol, `${path}.protocol`));
    if (port.appProtocol !== undefined) {
      errors.push(...validateQualifiedName(port.appProtocol, `${path}.appProtocol`));
    }
    return errors;
  });
}

function validateEndpoints(slice: EndpointSlice): FieldError[] {
  const { addressType } = slice;
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > mostEndpoints) {
    return [tooMany('endpoints', endpoints.length, mostEndpoints)];
  }
  return endpoints.flatMap((endpoint, index) => {
    const path = `endpoints[${index}]`;
    const addresses = endpoint.addresses ?? [];
    const errors: FieldError[] = [];
    if (addresses.length === 0) {
      errors.push(required(`${path}.addresses`, 'must contain at least 1 address'));
    } else if (addresses.length > mostAddresses) {
      errors.push(tooMany(`${path}.addresses`, addresses.length, mostAddresses));
    }
    for (const [place, address] of addresses.entries()) {
      errors.push(...validateTypedAddress(address, addressType, `${path}.addresses`, place));
    }
    const { nodeName, hostname } = endpoint;
    if (nodeName !== undefined) {
      errors.push(
        ...subdomainErrors(nodeName).map((why) => invalid(`${path}.nodeName`, nodeName, why)),
      );
    }
    if (hostname !== undefined) {
      errors.push(
        ...dnsLabelErrors(hostname).map((why) => invalid(`${path}.hostname`, hostname, why)),
      );
    }
    return errors;
  });
}

function validateTypedAddress(
  text: string,
  type: string,
  path: string,
  place: number,
): FieldError[] {
  const here = `${path}[${place}]`;
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const wrong = validateAddress(text, here);
  if (wrong.length > 0) return wrong;
  const address = tryParseAddress(text);
  const family = address === undefined ? undefined : familyOf(address);
  const fits = family === (type === 'IPv4' ? 4 : 6);
  return [
    ...(fits ? [] : [invalid(path, text, `must be an ${type} address`)]),
    ...validateEndpointAddress(text, here),
  ];
}
