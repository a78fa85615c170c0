import { expect, test } from 'vitest';
import type { NetworkPolicy } from '@causeway/kubernetes/objects/network-objects';
import { policyBudget, policyExcess } from './policy-budget.ts';

type Ingress = NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>;
const policy = (ingress: Ingress): NetworkPolicy => ({ spec: { podSelector: {}, ingress } });
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

const block = { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } };
const { rules, blocks, ports } = policyBudget;

test.each<[string, NetworkPolicy[], string | undefined]>([
  ['no policies', [], undefined],
  ['the maximum of rules', [policy(times(rules, {}))], undefined],
  ['too many rules in two policies', [policy(times(rules, {})), policy([{}])], '501 rules'],
  ['the maximum of blocks', [policy([{ from: times(blocks / 2, block) }])], undefined],
  [
    'too many blocks with exceptions',
    [policy([{ from: times(blocks / 2 + 1, block) }])],
    '5002 address blocks',
  ],
  ['many peers inside of the cluster', [policy([{ from: times(9_000, {}) }])], undefined],
  ['too many ports', [policy([{ ports: times(ports + 1, { port: 80 }) }])], '5001 ports'],
])('%s', (_name, policies, message) => {
  const excess = policyExcess(policies);
  if (message === undefined) expect(excess).toBeUndefined();
  else expect(excess).toMatchObject({ message: expect.stringContaining(message) });
});
