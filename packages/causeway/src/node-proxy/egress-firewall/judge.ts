import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { prefixContains, type Prefix } from '@causeway/base/address/prefix';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { describeRule, type EgressPolicy } from './egress-rules.ts';

/** Inputs of the evaluation, beside the slice and its namespace's policies. */
export interface JudgeContext {
  /** The pod and service networks. Slices entirely inside them are never evaluated. */
  readonly clusterNetworks: readonly Prefix[];
  /** The addresses of a name; undefined if they are not known yet. */
  readonly addressesOf: (name: string) => ReadonlySet<Address> | undefined;
}

export type Judgement = { readonly kind: 'shown' } | HiddenJudgement;

export interface HiddenJudgement {
  readonly kind: 'hidden';
  readonly address: string;
  readonly because: string;
  /** Short form for metrics: `default 2`, or the problem of the policies. */
  readonly rule: string;
}

const shown: Judgement = { kind: 'shown' };

/**
 * Decides whether a slice may be used. One denied address hides all of it, because the Service's owner chose
 * the other addresses to go with it. Slices inside the cluster are not subject to the egress firewall.
 */
export function judgeSlice(
  slice: EndpointSlice,
  policies: readonly EgressPolicy[],
  context: JudgeContext,
): Judgement {
  if (policies.length === 0 || slice.addressType === 'FQDN') return shown;
  const addresses = (slice.endpoints ?? []).flatMap(({ addresses: listed }) => listed);
  const isInside = (text: string) => {
    const address = tryParseAddress(text);
    // The proxy ignores values that are not addresses.
    return (
      address === undefined ||
      context.clusterNetworks.some((network) => prefixContains(network, address))
    );
  };
  const outside = addresses.find((text) => !isInside(text));
  if (outside === undefined) return shown;
  const [policy] = policies;
  if (policy === undefined) return shown;
  if (policies.length > 1) {
    const names = policies.map(({ key }) => key).join(', ');
    const because = `the namespace has more than one EgressNetworkPolicy: ${names}`;
    return hidden(outside, { because, rule: 'several policies' });
  }
  if (policy.problem !== undefined) {
    const because = `the EgressNetworkPolicy ${policy.key} can't be read: ${policy.problem}`;
    return hidden(outside, { because, rule: 'unreadable policy' });
  }
  for (const text of addresses) {
    const address = tryParseAddress(text);
    if (address === undefined) continue;
    const denied = rejection(address, !isInside(text), policy, context);
    if (denied !== undefined) return hidden(text, denied);
  }
  return shown;
}

interface Rejected {
  readonly because: string;
  readonly rule: string;
}

function hidden(address: string, rejection: Rejected): Judgement {
  return { kind: 'hidden', address, ...rejection };
}

/** The reason why the address is denied; undefined if it is allowed. */
function rejection(
  address: Address,
  isOutside: boolean,
  { key, rules }: EgressPolicy,
  { addressesOf }: JudgeContext,
): Rejected | undefined {
  for (const [index, rule] of rules.entries()) {
    const words = `rule ${index + 1} of the EgressNetworkPolicy ${key} (${describeRule(rule)})`;
    const named = `${nameFromKey(key).name} ${index + 1}`;
    const denied = rule.action === 'Deny' ? { because: words, rule: named } : undefined;
    if (rule.to.kind === 'network') {
      if (!prefixContains(rule.to.network, address)) continue;
      return denied;
    }
    const known = addressesOf(rule.to.name);
    if (known === undefined) {
      // The addresses of the name are unknown. The rule allows nothing, and may deny this address.
      if (denied !== undefined && isOutside) {
        return { ...denied, because: `${words} with a name that is not resolved yet` };
      }
      continue;
    }
    if (known.has(address)) return denied;
  }
  return undefined;
}
