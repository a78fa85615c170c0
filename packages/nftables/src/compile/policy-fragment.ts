import { familyOf, type Family } from '@causeway/base/address/address';
import { protocols } from '@causeway/base/address/port';
import { rangesWithout, unionOfRanges } from './address-ranges.ts';
import type { Rule, Statement } from '../model/expression.ts';
import { FragmentBuilder, type Fragment } from './fragment.ts';
import { derivedName, setNames } from '../model/names.ts';
import {
  accept,
  destinationPort,
  drop,
  equals,
  families,
  isFamily,
  isIn,
  jump,
  protocol,
  protocolNumbers,
  source,
} from '../model/operands.ts';
import { addressType } from './skeleton.ts';
import type {
  IngressPolicy,
  IngressRule,
  IpBlock,
  PodPolicies,
  PortRange,
} from './virtual-service.ts';

/** `namespace/name`, the key of a policy. */
export function policyKey(policy: Pick<IngressPolicy, 'namespace' | 'name'>): string {
  return `${policy.namespace}/${policy.name}`;
}

/** A policy's own chain: accepts connections that one of its rules allows and otherwise returns. */
export function policyFragment(policy: IngressPolicy): Fragment {
  const fragment = new FragmentBuilder();
  const name = policyChain(policyKey(policy));
  const rules = policy.allow.flatMap((allowed, index) =>
    compileRule(fragment, `${name}-${index}`, allowed),
  );
  fragment.chains.push({ name, rules });
  return fragment;
}

/** Sends a pod's traffic through all policies that select it. Pods with the same policies share a chain. */
export function podFragment(pod: PodPolicies, known: (policy: string) => boolean): Fragment {
  const fragment = new FragmentBuilder();
  const policies = [...new Set(pod.policies)].filter(known).sort();
  const name = derivedName('pods', ...policies);
  fragment.chains.push({
    name,
    rules: [
      ...policies.map((policy): Rule => ({ statements: [jump(policyChain(policy))] })),
      { statements: [drop] },
    ],
  });
  fragment.element(setNames.pods(familyOf(pod.address)), [pod.address], {
    kind: 'goto',
    chain: name,
  });
  return fragment;
}

function policyChain(key: string): string {
  return derivedName('policy', key);
}

function compileRule(fragment: FragmentBuilder, prefix: string, allowed: IngressRule): Rule[] {
  const sources = compileSources(fragment, prefix, allowed.from);
  const ports = compilePorts(fragment, prefix, allowed.ports);
  return sources.flatMap((from) => ports.map((to) => ({ statements: [...from, ...to, accept] })));
}

/**
 * One list of statements for each family that has sources; a single empty list if all sources are allowed.
 */
function compileSources(
  fragment: FragmentBuilder,
  prefix: string,
  blocks: readonly IpBlock[] | undefined,
): Statement[][] {
  if (blocks === undefined) return [[]];
  return families.flatMap((family): Statement[][] => {
    const ranges = blockRanges(blocks, family);
    if (ranges.length === 0) return [];
    const set = `${prefix}-from${family}`;
    fragment.sets.push({ name: set, key: [addressType(family)], interval: true });
    for (const range of ranges) fragment.range(set, [range.first], [range.last]);
    return [[isFamily(family), isIn([source(family)], set)]];
  });
}

function blockRanges(blocks: readonly IpBlock[], family: Family) {
  const ranges = blocks.flatMap((block) => rangesWithout([block.cidr], block.except, family));
  return unionOfRanges(ranges, family);
}

function compilePorts(
  fragment: FragmentBuilder,
  prefix: string,
  ports: readonly PortRange[] | undefined,
): Statement[][] {
  if (ports === undefined) return [[]];
  return protocols.flatMap((name): Statement[][] => {
    const ranges = ports.filter((range) => range.protocol === name);
    if (ranges.length === 0) return [];
    const matches = equals(protocol, protocolNumbers[name]);
    if (ranges.some((range) => range.first === undefined)) return [[matches]];
    const set = `${prefix}-${name.toLowerCase()}`;
    fragment.sets.push({ name: set, key: ['inet_service'], interval: true });
    for (const [first, last] of mergePorts(ranges)) fragment.range(set, [first], [last]);
    return [[matches, isIn([destinationPort], set)]];
  });
}

function mergePorts(ranges: readonly PortRange[]): [number, number][] {
  const sorted = ranges
    .map(({ first = 1, last = first }): [number, number] => [first, last])
    .sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [first, last] of sorted) {
    const previous = merged.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) {
      previous[1] = Math.max(previous[1], last);
    } else {
      merged.push([first, last]);
    }
  }
  return merged;
}
