import type { Family } from '@causeway/base/address/address';
import type { FloatingIp, Port, Subnet } from '@causeway/openstack/neutron/resources';
import type { OwnershipMarks } from './ownership-marks.ts';
import type { L2Port } from './port-slot.ts';

/** A Neutron port as the gateways use it; undefined for a port outside of their subnets. */
export function describePort(
  port: Port,
  floating: FloatingIp | undefined,
  subnets: ReadonlyMap<Family, Subnet>,
  marks: OwnershipMarks,
): L2Port | undefined {
  for (const [family, subnet] of subnets) {
    const fixed = port.fixedIps.find(({ subnetId }) => subnetId === subnet.id);
    if (fixed === undefined) continue;
    const isKept = floating !== undefined && marks.isKept(floating);
    return {
      id: port.id,
      family,
      address: fixed.address,
      publicAddress: floating?.address ?? fixed.address,
      ...(isKept ? { keepsPublic: true } : {}),
    };
  }
  return undefined;
}
