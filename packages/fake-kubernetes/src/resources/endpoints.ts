import type { KubeObject } from '../object.ts';
import { invalid, required, type FieldError } from '../schema/field-error.ts';
import { dnsLabelErrors, subdomainErrors } from '../schema/names.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import {
  validateAddress,
  validateEndpointAddress,
  validatePortNumber,
  validateProtocol,
  validateQualifiedName,
} from './field-rules.ts';

export interface EndpointsAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: { kind: string; name: string; namespace: string; uid: string };
}

export interface EndpointsPort {
  name?: string;
  port: number;
  protocol?: string;
  appProtocol?: string;
}

export interface EndpointsSubset {
  addresses?: EndpointsAddress[];
  notReadyAddresses?: EndpointsAddress[];
  ports?: EndpointsPort[];
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointsSubset[];
}

export const endpoints = builtIn<Endpoints>({
  plural: 'endpoints',
  kind: 'Endpoints',
  shortNames: ['ep'],
  createsOnUpdate: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  columns: [nameColumn, column<Endpoints>('Endpoints', formatEndpoints), ageColumn],
  defaults(draft) {
    for (const subset of draft.subsets ?? []) {
      for (const port of subset.ports ?? []) port.protocol ??= 'TCP';
    }
  },
  validate: ({ subsets }) =>
    (subsets ?? []).flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`)),
});

const mostShown = 3;

/** The first three items and the number of others: `10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...`. */
export function shortList(items: readonly string[], none: string): string {
  if (items.length === 0) return none;
  const shown = items.slice(0, mostShown).join(',');
  const rest = items.length - mostShown;
  return rest > 0 ? `${shown} + ${rest} more...` : shown;
}

function formatEndpoints({ subsets }: Endpoints): string {
  if (subsets === undefined || subsets.length === 0) return '<none>';
  const items = subsets.flatMap(({ addresses = [], ports = [] }) => {
    if (ports.length === 0) return addresses.map(({ ip }) => ip);
    return ports.flatMap(({ port }) =>
      addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
    );
  });
  return shortList(items, '');
}

function validateSubset(subset: EndpointsSubset, path: string): FieldError[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const errors: FieldError[] = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  for (const [name, list] of Object.entries({ addresses, notReadyAddresses })) {
    for (const [index, address] of list.entries()) {
      errors.push(...validateEndpoint(address, `${path}.${name}[${index}]`));
    }
  }
  for (const [index, port] of ports.entries()) {
    errors.push(...validateEndpointsPort(port, ports.length > 1, `${path}.ports[${index}]`));
  }
  return errors;
}

function validateEndpoint(address: EndpointsAddress, path: string): FieldError[] {
  const { hostname, nodeName } = address;
  return [
    ...validateAddress(address.ip, `${path}.ip`),
    ...(hostname === undefined ? [] : dnsLabelErrors(hostname)).map((why) =>
      invalid(`${path}.hostname`, hostname, why),
    ),
    ...(nodeName === undefined ? [] : subdomainErrors(nodeName)).map((why) =>
      invalid(`${path}.nodeName`, nodeName, why),
    ),
    ...validateEndpointAddress(address.ip, `${path}.ip`),
  ];
}

function validateEndpointsPort(
  port: EndpointsPort,
  needsName: boolean,
  path: string,
): FieldError[] {
  const name = port.name ?? '';
  const nameErrors =
    name === ''
      ? needsName
        ? [required(`${path}.name`)]
        : []
      : dnsLabelErrors(name).map((why) => invalid(`${path}.name`, name, why));
  return [
    ...nameErrors,
    ...validatePortNumber(port.port, `${path}.port`),
    ...validateProtocol(port.protocol, `${path}.protocol`),
    ...(port.appProtocol === undefined
      ? []
      : validateQualifiedName(port.appProtocol, `${path}.appProtocol`)),
  ];
}
