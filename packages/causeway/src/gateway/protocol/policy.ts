import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Port, Protocol } from '@causeway/base/address/port';
import { prefixContains, prefixFamily, type Prefix } from '@causeway/base/address/prefix';

/** A network policy's identity. Policies of the same name in different namespaces are different policies. */
export interface PolicyId {
  /** Empty only for policies from `/v1`, which has no namespaces. */
  readonly namespace: string;
  readonly name: string;
}

declare const policyKeyBrand: unique symbol;
/** `namespace/name`. Neither part can contain a slash. */
export type PolicyKey = string & { readonly [policyKeyBrand]: true };

/** Addresses that may connect: all of `cidr` but none of `except`. */
export interface AddressBlock {
  readonly cidr: Prefix;
  readonly except: readonly Prefix[];
}

/** A port, a range of ports or a named port of the pod. Without any of them, every port of the protocol. */
export interface PortFilter {
  readonly protocol: Protocol;
  readonly port: Port | string | undefined;
  readonly endPort: Port | undefined;
}

/**
 * Allows traffic that matches one of the blocks and one of the filters. Without blocks or filters, all
 * traffic matches.
 */
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

/** A pod's address that policies apply to. Traffic that none of them allows is dropped. */
export interface Assignment {
  readonly address: Address;
  readonly policies: readonly PolicyKey[];
  /** The meaning of this pod's port names. Two pods of one policy may differ. */
  readonly namedPorts: readonly NamedPort[];
}

const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Any valid name in Kubernetes: at most 253 characters, without the DNS limit for each part. */
export function isPolicyName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => label.test(part));
}

export function isNamespace(text: string): boolean {
  return text.length <= 63 && label.test(text);
}

/** A valid port name in Kubernetes: at most 15 characters, at least one of them a letter. */
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
    throw new CausewayError('invalid', 'an end port requires a numeric port');
  }
  if (endPort !== undefined && typeof port === 'number' && endPort < port) {
    throw new CausewayError('invalid', `the range from ${port} to ${endPort} is empty`);
  }
  return { protocol, port, endPort };
}
