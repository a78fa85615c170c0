import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';

/** Role of an address for a Service. */
export type AddressRole = 'load balancer' | 'external' | 'cluster';

export interface AddressOwner {
  readonly service: Service;
  readonly role: AddressRole;
  /** Whether the Service has this port too. */
  readonly hasPort: boolean;
}

/** The Service of an address and port. A Service with the port is preferred to one without. */
export function findOwner(
  services: Iterable<Service>,
  target: { readonly address: Address; readonly protocol: Protocol; readonly port: Port },
): AddressOwner | undefined {
  let found: AddressOwner | undefined;
  for (const service of services) {
    const role = roleOf(service, target.address);
    if (role === undefined) continue;
    const ports = service.spec?.ports ?? [];
    const hasPort = ports.some(
      ({ port, protocol = 'TCP' }) => port === target.port && protocol === target.protocol,
    );
    if (hasPort) return { service, role, hasPort };
    found ??= { service, role, hasPort };
  }
  return found;
}

function roleOf({ spec = {}, status }: Service, address: Address): AddressRole | undefined {
  const outside = (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
  if (outside.includes(address)) return 'load balancer';
  if (spec.externalIPs?.includes(address) === true) return 'external';
  const inside = spec.clusterIPs ?? [spec.clusterIP];
  return inside.includes(address) ? 'cluster' : undefined;
}
