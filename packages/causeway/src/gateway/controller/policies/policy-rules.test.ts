import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { formatPolicy } from '../../protocol/records.ts';
import type { Pod } from '@causeway/kubernetes/objects/core-objects';
import type { NetworkPolicy } from '@causeway/kubernetes/objects/network-objects';
import { assignmentFor, limitsIngress, policyFrom } from './policy-rules.ts';

type Spec = NonNullable<NetworkPolicy['spec']>;
const policy = (spec: Partial<Spec>, name = 'p'): NetworkPolicy => ({
  metadata: { namespace: 'shop', name },
  spec: { podSelector: {}, ...spec },
});

function read(ingress: NonNullable<Spec['ingress']>) {
  const problems: string[] = [];
  const { ingress: rules } = formatPolicy(
    policyFrom(policy({ ingress }), (problem) => problems.push(problem)),
  );
  return { rules, problems };
}

const block = (cidr: string, except?: string[]) => ({
  ipBlock: { cidr, ...(except === undefined ? {} : { except }) },
});

test.each<[string, NonNullable<Spec['ingress']>, unknown[]]>([
  ['no rule admits no client', [], []],
  ['an empty rule admits all clients', [{}], [{}]],
  ['an empty list of sources admits all clients', [{ from: [] }], [{}]],
  [
    'a block with exceptions',
    [{ from: [block('10.0.0.0/8', ['10.1.0.0/16', '10.2.0.0/16'])] }],
    [{ from: [{ cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] }] }],
  ],
  [
    'both families',
    [{ from: [block('10.0.0.0/8'), block('2001:db8::/32', ['2001:db8:1::/48'])] }],
    [
      {
        from: [{ cidr: '10.0.0.0/8' }, { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] }],
      },
    ],
  ],
  [
    'host bits have no effect',
    [{ from: [block('10.1.2.3/8')] }],
    [{ from: [{ cidr: '10.0.0.0/8' }] }],
  ],
  [
    'peers inside of the cluster admit no client from outside',
    [{ from: [{ podSelector: {} }] }],
    [],
  ],
  [
    'peers inside of the cluster beside a block have no effect',
    [{ from: [{ namespaceSelector: {} }, block('10.0.0.0/8')] }],
    [{ from: [{ cidr: '10.0.0.0/8' }] }],
  ],
  [
    'ports, ranges, names and whole protocols',
    [
      {
        ports: [
          { port: 80 },
          { protocol: 'UDP', port: 5000, endPort: 5009 },
          { port: 'http' },
          { protocol: 'SCTP' },
        ],
      },
    ],
    [
      {
        ports: [
          { protocol: 'TCP', port: 80 },
          { protocol: 'UDP', port: 5000, endPort: 5009 },
          { protocol: 'TCP', port: 'http' },
          { protocol: 'SCTP' },
        ],
      },
    ],
  ],
])('%s', (_name, ingress, rules) => {
  expect(read(ingress)).toEqual({ rules, problems: [] });
});

test('admits nothing for an unreadable part, and reports it', () => {
  const { rules, problems } = read([
    { from: [block('10.0.0.0/8', ['11.0.0.0/16'])] },
    { from: [block('nonsense'), block('192.0.2.0/24')] },
    { ports: [{ port: 90, endPort: 80 }] },
  ]);
  expect(rules).toEqual([{ from: [{ cidr: '192.0.2.0/24' }] }]);
  expect(problems).toHaveLength(3);
});

test('ignores a policy for egress only', () => {
  expect(limitsIngress(policy({ policyTypes: ['Egress'] }))).toBe(false);
  expect(limitsIngress(policy({ policyTypes: ['Egress', 'Ingress'] }))).toBe(true);
  expect(limitsIngress(policy({}))).toBe(true);
});

test('assigns the policies that select a pod, by namespace and name, with its port names', () => {
  const pod: Pod = {
    metadata: { namespace: 'shop', name: 'web-1', labels: { app: 'web' } },
    spec: {
      containers: [
        { name: 'a', ports: [{ name: 'http', containerPort: 8080 }, { containerPort: 9 }] },
        { name: 'b', ports: [{ name: 'http', containerPort: 8081 }] },
      ],
    },
  };
  const address = parseAddress('10.0.0.7');
  const chosen = { podSelector: { matchLabels: { app: 'web' } } };
  const other = { podSelector: { matchLabels: { app: 'db' } } };
  expect(
    assignmentFor(address, pod, [policy(chosen, 'b'), policy(other, 'c'), policy({}, 'a')]),
  ).toEqual({
    address,
    policies: ['shop/a', 'shop/b'],
    namedPorts: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  });
  expect(assignmentFor(address, pod, [policy(other)])).toBeUndefined();
});
