import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { quoted } from '@causeway/base/text/text-limit';
import { budgetExcess } from '@causeway/kubernetes/objects/service-budget';
import { budgetedFrontend } from './budgeted-frontend.ts';
import { addressAnnotation, sharingKeyAnnotation } from './annotations.ts';
import type { FrontendSpec } from './frontend-spec.ts';
import type { L4Port } from './l4-port.ts';

/** The parsed load balancer requirements of a frontend. */
export interface LoadBalancerSpec {
  readonly families: readonly Family[];
  /** Whether the Service is served without an address of one family, if none is left. */
  readonly isFamilyOptional: boolean;
  readonly ports: readonly L4Port[];
  readonly sharingGroup: string;
  readonly requested: ReadonlyMap<Family, Address>;
}

export type LoadBalancerSpecReading =
  | { readonly kind: 'needs'; readonly needs: LoadBalancerSpec }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

/**
 * Reads the load balancer spec of a frontend. `served` lists the families in which the port manager has
 * addresses.
 */
export function readLoadBalancerSpec(
  frontend: FrontendSpec,
  served: readonly Family[],
): LoadBalancerSpecReading {
  const excess = budgetExcess(budgetedFrontend(frontend));
  if (excess !== undefined) return { kind: 'refused', ...excess };
  const families = frontend.families.filter((family) => served.includes(family));
  const isIncomplete = families.length < frontend.families.length;
  const isRequired = frontend.familyPolicy === 'require-both';
  if (families.length === 0 || (isRequired && isIncomplete)) {
    const verb = isRequired ? 'requires' : 'requests';
    const available = `the gateways have addresses of ${familyNames(served)} only`;
    const remedy = isRequired
      ? ' To use one family, set spec.ipFamilyPolicy: PreferDualStack.'
      : '';
    return refused(
      'NoSuchFamily',
      `The Service ${verb} ${familyNames(frontend.families)}, and ${available}.${remedy}`,
    );
  }
  const ports = portsAskedFor(frontend);
  const requested = readRequested(frontend);
  if ('reason' in requested) return { kind: 'refused', ...requested };
  for (const [family, address] of requested) {
    if (!families.includes(family)) {
      return refused(
        'AddressOfOtherFamily',
        `The Service requests ${address}, but does not use IPv${family}. Change the address or spec.ipFamilies.`,
      );
    }
  }
  const sharingGroup = sharingGroupOf(frontend);
  const isFamilyOptional = frontend.familyPolicy === 'prefer-both' && families.length > 1;
  return {
    kind: 'needs',
    needs: { families, isFamilyOptional, ports, sharingGroup, requested },
  };
}

export function portsAskedFor(frontend: FrontendSpec): readonly L4Port[] {
  return frontend.ports.map(({ protocol, port }): L4Port => ({ protocol, port: parsePort(port) }));
}

/**
 * Services of one namespace share addresses. Services of different namespaces share an address only if they
 * name the same key.
 */
export function sharingGroupOf(frontend: FrontendSpec): string {
  const key = frontend.annotations[sharingKeyAnnotation];
  return key === undefined || key === '' ? `namespace:${frontend.owner.namespace}` : `key:${key}`;
}

/**
 * The annotation takes precedence over the field, which Kubernetes has deprecated. Different values are an
 * error.
 */
function readRequested(
  frontend: FrontendSpec,
): Map<Family, Address> | { readonly reason: EventReason; readonly message: string } {
  const annotation = frontend.annotations[addressAnnotation];
  const field = frontend.requestedAddress;
  const text = annotation ?? field ?? '';
  const requested = new Map<Family, Address>();
  for (const part of text.split(',').map((item) => item.trim())) {
    if (part === '') continue;
    const address = tryParseAddress(part);
    if (address === undefined) {
      return { reason: 'InvalidAddress', message: `${quoted(part)} is not an IP address.` };
    }
    if (requested.has(familyOf(address))) {
      return {
        reason: 'InvalidAddress',
        message: 'The Service requests two addresses of one family.',
      };
    }
    requested.set(familyOf(address), address);
  }
  const fromField = field === undefined || field === '' ? undefined : tryParseAddress(field);
  if (annotation !== undefined && fromField !== undefined) {
    const same = requested.get(familyOf(fromField)) === fromField;
    if (!same) {
      return {
        reason: 'AddressesDiffer',
        message: `The annotation ${addressAnnotation} and spec.loadBalancerIP request different addresses. Remove one.`,
      };
    }
  }
  return requested;
}

function familyNames(families: readonly Family[]): string {
  return families.map((family) => `IPv${family}`).join(' and ');
}

function refused(reason: EventReason, message: string): LoadBalancerSpecReading {
  return { kind: 'refused', reason, message };
}
