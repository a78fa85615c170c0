import type { Address, Family } from '@causeway/base/address/address';
import type { Ingress } from '../../../services/provider.ts';
import type { PortIds } from './annotations.ts';
import type { L2Port } from './port-slot.ts';

/** The L2 ports of one Service, one for each served family. */
export type ServicePorts = ReadonlyMap<Family, L2Port>;

export function inFamilies(ports: ServicePorts, families: readonly Family[]): ServicePorts {
  return new Map([...ports].filter(([family]) => families.includes(family)));
}

export function idsOf(ports: ServicePorts): PortIds {
  return new Map([...ports].map(([family, { id }]) => [family, id]));
}

export function sameIds(left: PortIds, right: PortIds): boolean {
  return left.size === right.size && [...left].every(([family, id]) => right.get(family) === id);
}

/** Whether the port has changed in a family that the Service still has. */
export function hasMoved(before: PortIds, after: PortIds): boolean {
  return [...before].some(([family, id]) => after.has(family) && after.get(family) !== id);
}

/** The addresses for the status: the floating IP, if any. */
export function ingressOf(ports: ServicePorts): Ingress[] {
  return publicAddresses(ports).map((ip) => ({ ip, ipMode: 'VIP' }));
}

export function publicAddresses(ports: ServicePorts): Address[] {
  return [...ports.values()].map(({ publicAddress }) => publicAddress);
}

/** The families in which nodes know the served address: those without a floating IP. */
export function routableFamilies(ports: ServicePorts): Set<Family> {
  const routable = [...ports].filter(([, port]) => port.address === port.publicAddress);
  return new Set(routable.map(([family]) => family));
}
