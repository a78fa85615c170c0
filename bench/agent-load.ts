import { makeFrontend, type Frontend } from '../packages/causeway/src/gateway/protocol/frontend.ts';
import type { DeltaContent } from '../packages/causeway/src/gateway/protocol/write-update.ts';
import {
  addressFromInteger,
  addressToInteger,
  parseAddress,
} from '../packages/base/src/address/address.ts';
import { parsePort } from '../packages/base/src/address/port.ts';

export const serviceCount = 10_000;

export const nothing: DeltaContent = {
  frontends: [],
  policies: [],
  assignments: [],
  nodes: [],
  removedFrontends: [],
  removedPolicies: [],
  removedAssignments: [],
  removedNodes: [],
};

/** A Service on its own address with two backends; the first one varies. */
export function service(index: number, variant: number): Frontend {
  const base = addressToInteger(parseAddress('10.100.0.0'));
  return makeFrontend({
    address: addressFromInteger(base + BigInt(index), 4),
    protocol: 'TCP',
    port: parsePort(80),
    service: `bench/service-${index}`,
    destinations: [1, 2].map((pod) => ({
      address: addressFromInteger(
        addressToInteger(parseAddress('10.200.0.0')) + BigInt(index * 2 + pod),
        4,
      ),
      port: parsePort(8080 + ((pod === 1 ? variant : 0) % 1000)),
      weight: 1,
    })),
  });
}

export function allServices(variant = 0): Frontend[] {
  return Array.from({ length: serviceCount }, (_, index) => service(index, variant));
}
