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
import {
  addressAnnotation,
  firstOf,
  metallbAddressAnnotations,
  metallbSharingKeyAnnotations,
  sharingKeyAnnotation,
} from './annotations.ts';
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

/** The annotations that request addresses, beside `spec.loadBalancerIP`. */
export type AddressSources = 'own' | 'own-and-metallb';

/**
 * Reads the load balancer spec of a frontend. `served` lists the families in which the port manager has
 * addresses.
 */
export function readLoadBalancerSpec(
  frontend: FrontendSpec,
  served: readonly Family[],
  sources: AddressSources = 'own',
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
  const requested = readRequested(frontend, sources);
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
  const key = sharingKeyOf(frontend);
  return key === undefined ? `namespace:${frontend.owner.namespace}` : `key:${key}`;
}

function sharingKeyOf({ annotations }: FrontendSpec): string | undefined {
  const own = annotations[sharingKeyAnnotation];
  if (own !== undefined) return own === '' ? undefined : own;
  return firstOf(metallbSharingKeyAnnotations, annotations)?.text;
}

/** A warning if Causeway's sharing key and MetalLB's differ. Causeway's counts. */
export function differingSharingKeys({ annotations }: FrontendSpec): string | undefined {
  const own = annotations[sharingKeyAnnotation];
  const other = firstOf(metallbSharingKeyAnnotations, annotations);
  if (own === undefined || other === undefined || own === other.text) return undefined;
  return `The annotations ${sharingKeyAnnotation} and ${other.name} have different keys. ${sharingKeyAnnotation} counts.`;
}

type Refusal = { readonly reason: EventReason; readonly message: string };

/** Sources of a requested address that disagree are an error: no source takes precedence unnoticed. */
function readRequested(
  { annotations, requestedAddress = '' }: FrontendSpec,
  sources: AddressSources,
): ReadonlyMap<Family, Address> | Refusal {
  const asked = [
    firstOf([addressAnnotation], annotations),
    sources === 'own' ? undefined : firstOf(metallbAddressAnnotations, annotations),
    requestedAddress === '' ? undefined : { name: 'spec.loadBalancerIP', text: requestedAddress },
  ].filter((each) => each !== undefined);
  let first:
    | { readonly name: string; readonly requested: ReadonlyMap<Family, Address> }
    | undefined;
  for (const { name, text } of asked) {
    const requested = parseRequested(text);
    if ('reason' in requested) return requested;
    if (first === undefined) first = { name, requested };
    else if ([...requested].some(([family, address]) => first?.requested.get(family) !== address)) {
      const what = first.name === addressAnnotation ? 'The annotation ' : '';
      return {
        reason: 'AddressesDiffer',
        message: `${what}${first.name} and ${name} request different addresses. Remove one.`,
      };
    }
  }
  return first?.requested ?? new Map<Family, Address>();
}

function parseRequested(text: string): ReadonlyMap<Family, Address> | Refusal {
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
  return requested;
}

function familyNames(families: readonly Family[]): string {
  return families.map((family) => `IPv${family}`).join(' and ');
}

function refused(reason: EventReason, message: string): LoadBalancerSpecReading {
  return { kind: 'refused', reason, message };
}
