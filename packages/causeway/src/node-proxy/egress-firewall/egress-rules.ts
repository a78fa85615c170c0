import { CausewayError } from '@causeway/base/error/causeway-error';
import { parseInterface, prefixOf, formatPrefix, type Prefix } from '@causeway/base/address/prefix';
import { slimMetadata } from '@causeway/kubernetes/cache/projection';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import type { EgressNetworkPolicy } from './egress-network-policy.ts';

export interface EgressRule {
  readonly action: 'Allow' | 'Deny';
  readonly to:
    | { readonly kind: 'network'; readonly network: Prefix }
    | { readonly kind: 'name'; readonly name: string };
}

/**
 * A policy with parsed rules. A policy that can't be parsed denies every address outside, because its intent
 * is unknown.
 */
export interface EgressPolicy extends KubeObject {
  readonly key: string;
  readonly rules: readonly EgressRule[];
  readonly problem: string | undefined;
}

export function parseEgressPolicy(policy: EgressNetworkPolicy): EgressPolicy {
  const key = keyOf(policy);
  const metadata = slimMetadata(policy.metadata);
  try {
    const rules = (policy.spec?.egress ?? []).map(parseRule);
    return { metadata, key, rules, problem: undefined };
  } catch (thrown) {
    return { metadata, key, rules: [], problem: CausewayError.from(thrown).message };
  }
}

type WrittenRule = NonNullable<NonNullable<EgressNetworkPolicy['spec']>['egress']>[number];

function parseRule({ type, to }: WrittenRule, index: number): EgressRule {
  const where = `rule ${index + 1}`;
  if (type !== 'Allow' && type !== 'Deny') {
    throw new CausewayError('invalid', `${where}: the type ${JSON.stringify(type)} is unknown`);
  }
  const { cidrSelector, dnsName } = to ?? {};
  if ((cidrSelector === undefined) === (dnsName === undefined)) {
    throw new CausewayError('invalid', `${where}: name exactly one of cidrSelector and dnsName`);
  }
  if (cidrSelector !== undefined) {
    // Host bits are allowed for compatibility; they have no effect.
    const { address, length } = parseInterface(cidrSelector);
    return { action: type, to: { kind: 'network', network: prefixOf(address, length) } };
  }
  const name = (dnsName ?? '').toLowerCase().replace(/\.$/, '');
  if (name === '') throw new CausewayError('invalid', `${where}: the name is empty`);
  return { action: type, to: { kind: 'name', name } };
}

/** Formats a rule for people: `Deny 192.0.2.0/24`. */
export function describeRule({ action, to }: EgressRule): string {
  return `${action} ${to.kind === 'network' ? formatPrefix(to.network) : to.name}`;
}
