import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';
import {
  makeBlock,
  makePortFilter,
  policyKey,
  type AddressBlock,
  type Assignment,
  type IngressRule,
  type NamedPort,
  type Policy,
  type PortFilter,
} from '../../protocol/policy.ts';
import type { Pod } from '@causeway/kubernetes/objects/core-objects';
import { selectorMatches } from '@causeway/kubernetes/objects/label-selector';
import type { NetworkPolicy } from '@causeway/kubernetes/objects/network-objects';

type Rule = NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[number];

/** Whether the policy applies to connections to pods. */
export function limitsIngress({ spec }: NetworkPolicy): boolean {
  return spec?.policyTypes === undefined || spec.policyTypes.includes('Ingress');
}

/**
 * The connections from outside of the cluster that the policy admits: rules without a source, and address
 * blocks. Peers selected by labels are inside of the cluster and never connect through a gateway. An
 * unreadable part admits nothing; `onProblem` receives the reason.
 */
export function policyFrom(policy: NetworkPolicy, onProblem: (problem: string) => void): Policy {
  const ingress: IngressRule[] = [];
  for (const rule of policy.spec?.ingress ?? []) {
    const from = blocksOf(rule, onProblem);
    const ports = filtersOf(rule, onProblem);
    if (from?.length === 0 || ports?.length === 0) continue;
    ingress.push({ from, ports });
  }
  const { namespace = '', name = '' } = policy.metadata ?? {};
  return { namespace, name, ingress };
}

function blocksOf(rule: Rule, onProblem: (problem: string) => void): AddressBlock[] | undefined {
  if (rule.from === undefined || rule.from.length === 0) return undefined;
  const blocks: AddressBlock[] = [];
  for (const { ipBlock } of rule.from) {
    if (ipBlock === undefined) continue;
    attempt(onProblem, () => {
      blocks.push(makeBlock(network(ipBlock.cidr), (ipBlock.except ?? []).map(network)));
    });
  }
  return blocks;
}

function filtersOf(rule: Rule, onProblem: (problem: string) => void): PortFilter[] | undefined {
  if (rule.ports === undefined || rule.ports.length === 0) return undefined;
  const filters: PortFilter[] = [];
  for (const { protocol = 'TCP', port, endPort } of rule.ports) {
    attempt(onProblem, () => {
      const first = typeof port === 'number' ? parsePort(port) : port;
      const last = endPort === undefined ? undefined : parsePort(endPort);
      filters.push(makePortFilter(protocol, first, last));
    });
  }
  return filters;
}

/** The policies of the pod's namespace that apply to one of its addresses; undefined if none do. */
export function assignmentFor(
  address: Address,
  pod: Pod,
  policies: readonly NetworkPolicy[],
): Assignment | undefined {
  const keys = policies
    .filter(({ spec }) => selectorMatches(spec?.podSelector ?? {}, pod.metadata?.labels))
    .map(({ metadata }) =>
      policyKey({ namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }),
    )
    .sort();
  return keys.length === 0 ? undefined : { address, policies: keys, namedPorts: namedPorts(pod) };
}

function namedPorts(pod: Pod): NamedPort[] {
  const named = new Map<string, NamedPort>();
  for (const container of pod.spec?.containers ?? []) {
    for (const { name, protocol = 'TCP', containerPort } of container.ports ?? []) {
      if (name === undefined || name === '') continue;
      // Kubernetes also uses the first port of a name.
      const key = `${name} ${protocol}`;
      if (!named.has(key)) named.set(key, { name, protocol, port: parsePort(containerPort) });
    }
  }
  return [...named.values()];
}

/** Older API servers accept host bits in a network; they have no effect. */
function network(text: string): Prefix {
  const { address, length } = parseInterface(text);
  return prefixOf(address, length);
}

function attempt(onProblem: (problem: string) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    onProblem(CausewayError.from(error).message);
  }
}
