import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';

/** The Service `shop/web` on 10.96.0.1:80, unless overridden. */
export function makeService(overrides: Service = {}): Service {
  return {
    metadata: { namespace: 'shop', name: 'web', creationTimestamp: '2026-01-01T00:00:00Z' },
    ...overrides,
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      ports: [{ port: 80, protocol: 'TCP' }],
      ...overrides.spec,
    },
  };
}

export interface SliceParts {
  readonly service?: string;
  readonly name?: string;
  /** Ready endpoints on no particular node. */
  readonly addresses?: readonly string[];
  readonly endpoints?: readonly Endpoint[];
  readonly ports?: EndpointSlice['ports'];
  readonly addressType?: EndpointSlice['addressType'];
}

/** A slice of `shop/web` with endpoints on port 8080. */
export function makeSlice(parts: SliceParts = {}): EndpointSlice {
  const { service = 'web', name = `${service}-1`, addresses = [], endpoints = [] } = parts;
  return {
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': service } },
    addressType: parts.addressType ?? 'IPv4',
    ports: parts.ports ?? [{ port: 8080, protocol: 'TCP' }],
    endpoints: [...addresses.map((address) => ({ addresses: [address] })), ...endpoints],
  };
}
