import type { EgressNetworkPolicy } from '../egress-network-policy.ts';

type Rules = NonNullable<NonNullable<EgressNetworkPolicy['spec']>['egress']>;

export const cidr = (type: string, cidrSelector: string): Rules[number] => ({
  type,
  to: { cidrSelector },
});
export const named = (type: string, dnsName: string): Rules[number] => ({ type, to: { dnsName } });

/** A policy of the namespace `shop`. */
export function makePolicy(name: string, egress: Rules): EgressNetworkPolicy {
  return { metadata: { namespace: 'shop', name }, spec: { egress } };
}
