import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Port, Protocol } from '@causeway/base/address/port';
import { prefixContains, prefixFamily, type Prefix } from '@causeway/base/address/prefix';

/** A network policy's identity. Namespace and name together: two of the same name are two policies. */
export interface PolicyId {
  /** Empty only for policies that came in by `/v1`, which knows no namespaces. */
  readonly namespace: string;
  readonly name: string;
}

declare const policyKeyBrand: unique symbol;
/** `namespace/name`. Neither part can hold a slash. */
export type PolicyKey = string & { readonly [policyKeyBrand]: true };

/** Addresses that may connect: all of `cidr` but none of `except`. */
export interface AddressBlock {
  readonly cidr: Prefix;
  readonly except: readonly Prefix[];
}

/** A port, a range of ports or a named port of the pod; without any of them, every port of the protocol. */
export interface PortFilter {
  readonly protocol: Protocol;
  readonly port: Port | string | undefined;
  readonly endPort: Port | undefined;
}

/** Traffic that matches one of the blocks and one of the filters is allowed. None given: all match. */
export interface IngressRule {
  readonly from: readonly AddressBlock[] | undefined;
  readonly ports: readonly PortFilter[] | undefined;
}

export interface Policy extends PolicyId {
  readonly ingress: readonly IngressRule[];
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: Port;
}

/** A pod's address that policies apply to: what none of them allows is not let through. */
export interface Assignment {
  readonly address: Address;
  readonly policies: readonly PolicyKey[];
  /** What this pod's port names stand for; two pods of one policy may differ. */
  readonly namedPorts: readonly NamedPort[];
}

const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Any name that Kubernetes takes: at most 253 characters, and no limit to each part as the DNS has it. */
export function isPolicyName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => label.test(part));
}

export function isNamespace(text: string): boolean {
  return text.length <= 63 && label.test(text);
}

/** A port's name as Kubernetes takes it: at most 15 characters, at least one of them a letter. */
export function isPortName(text: string): boolean {
  return text.length <= 15 && label.test(text) && /[a-z]/.test(text) && !text.includes('--');
}

export function policyKey(id: PolicyId): PolicyKey {
  return `${id.namespace}/${id.name}` as PolicyKey;
}

export function makeBlock(cidr: Prefix, except: readonly Prefix[]): AddressBlock {
  for (const hole of except) {
    const inside =
      prefixFamily(hole) === prefixFamily(cidr) &&
      hole.length >= cidr.length &&
      prefixContains(cidr, hole.address);
    if (!inside) {
      throw new CausewayError(
        'invalid',
        `the exception ${hole.address}/${hole.length} is not inside ${cidr.address}/${cidr.length}`,
      );
    }
  }
  return { cidr, except };
}

export function makePortFilter(
  protocol: Protocol,
  port: Port | string | undefined,
  endPort: Port | undefined,
): PortFilter {
  if (endPort !== undefined && typeof port !== 'number') {
    throw new CausewayError('invalid', 'an end port needs a numeric port that it belongs to');
  }
  if (endPort !== undefined && typeof port === 'number' && endPort < port) {
    throw new CausewayError('invalid', `the range from ${port} to ${endPort} is empty`);
  }
  return { protocol, port, endPort };
}
