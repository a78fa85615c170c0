import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { internalError, invalid as invalidObject } from '../../status.ts';
import { invalid, type FieldError } from '../../schema/field-error.ts';
import type { ServiceAllocations, PendingAllocations } from './service-allocations.ts';
import { decideFamilies } from './service-families.ts';
import {
  allocatesNodePorts,
  heldNodePorts,
  isHeadless,
  needsHealthCheckPort,
  opensNodePorts,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './service-type.ts';

/** Allocates the missing families, addresses and node ports of a Service. */
export function allocate(
  allocations: ServiceAllocations,
  service: Service,
  old: Service | undefined,
): void {
  refuse(service, decideFamilies(service.spec, old?.spec, allocations.families));
  const pending = allocations.begin();
  allocateAddresses(pending, service, old?.spec);
  if (opensNodePorts(service.spec)) allocatePorts(pending, service, old?.spec);
  allocateHealthCheckPort(pending, service.spec, old?.spec);
}

function refuse({ metadata }: Service, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const identity = { group: '', plural: 'services', kind: 'Service', name: metadata.name };
  throw invalidObject(identity, errors);
}

function allocateAddresses(
  pending: PendingAllocations,
  service: Service,
  old: ServiceSpec | undefined,
): void {
  const { spec } = service;
  if (spec.type === 'ExternalName' || isHeadless(spec) || (old !== undefined && isHeadless(old))) {
    return;
  }
  const had = old === undefined || old.type === 'ExternalName' ? [] : (old.clusterIPs ?? []);
  const addresses = [...(spec.clusterIPs ?? [])];
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    // Existing values stay. Validation decides whether they can change.
    if (index < had.length) continue;
    const wanted = addresses[index] ?? '';
    if (wanted === '') addresses[index] = chooseAddress(pending, service, family);
    else {
      const { refusal } = pending.takeAddress(wanted);
      if (refusal === undefined) continue;
      const detail = `failed to allocate IP ${wanted}: ${refusal}`;
      refuse(service, [invalid('spec.clusterIPs', addresses, detail)]);
    }
  }
  if (addresses.length === 0) return;
  spec.clusterIPs = addresses;
  if (addresses[0] !== undefined) spec.clusterIP = addresses[0];
}

function chooseAddress(
  pending: PendingAllocations,
  { metadata }: Service,
  family: 'IPv4' | 'IPv6',
): string {
  try {
    return pending.chooseAddress(family);
  } catch (error) {
    if (!isErrorCode(error, 'exhausted')) throw error;
    const what = `failed to allocate a serviceIP for Service ${JSON.stringify(metadata.name)}`;
    const why = CausewayError.from(error).message;
    throw internalError(`${what}: ${why}`);
  }
}

function allocatePorts(
  pending: PendingAllocations,
  service: Service,
  old: ServiceSpec | undefined,
): void {
  const { spec } = service;
  const { ports = [] } = spec;
  const had = new Set(old === undefined ? [] : heldNodePorts({ ports: old.ports ?? [] }));
  // Protocols can share a port number, as DNS does. Equal ports get the same node port.
  const byPort = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    const wanted = port.nodePort ?? 0;
    if (wanted === 0 && !allocatesNodePorts(spec)) continue;
    const shared = old === undefined ? byPort.get(port.port) : undefined;
    const asked = wanted === 0 ? (shared ?? requestedForSamePort(ports, port, old)) : wanted;
    if (asked === 0) port.nodePort = choosePort(pending);
    else {
      const isHeld = had.has(asked) || [...byPort.values()].includes(asked);
      const { refusal } = isHeld ? {} : pending.takePort(asked);
      if (refusal !== undefined) {
        refuse(service, [invalid(`spec.ports[${index}].nodePort`, asked, refusal)]);
      }
      port.nodePort = asked;
    }
    byPort.set(port.port, port.nodePort);
  }
}

/**
 * On creation, a node port requested for one protocol also applies to the other protocols of the same port.
 */
function requestedForSamePort(
  ports: readonly ServicePort[],
  { port }: ServicePort,
  old: ServiceSpec | undefined,
): number {
  if (old !== undefined) return 0;
  return ports.find((one) => one.port === port && (one.nodePort ?? 0) !== 0)?.nodePort ?? 0;
}

function choosePort(pending: PendingAllocations): number {
  const port = pending.choosePort();
  if (port !== undefined) return port;
  throw internalError('failed to allocate a nodePort: range is full');
}

function allocateHealthCheckPort(
  pending: PendingAllocations,
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
): void {
  const isNew = needsHealthCheckPort(spec) && (old === undefined || !needsHealthCheckPort(old));
  if (!isNew) return;
  const wanted = spec.healthCheckNodePort ?? 0;
  if (wanted === 0) {
    spec.healthCheckNodePort = choosePort(pending);
    return;
  }
  const { refusal } = pending.takePort(wanted);
  if (refusal === undefined) return;
  throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${refusal}`);
}
