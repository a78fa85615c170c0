import { expect, test } from 'vitest';
import { makeFrontend, type FrontendParts } from '../../protocol/frontend.ts';
import { policyKey, type Policy, type PortFilter } from '../../protocol/policy.ts';
import { readV1Config } from '../../protocol/v1.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { parsePrefix } from '@causeway/base/address/prefix';
import { writeV1Config, type GatewayContent } from './v1-config.ts';

const nothing: GatewayContent = {
  frontends: [],
  nodes: [],
  policies: new Map(),
  assignments: [],
};
const destination = (address: string, port = 8080) => ({
  address: parseAddress(address),
  port: parsePort(port),
  weight: 1,
});
const frontend = (parts: Partial<FrontendParts>) =>
  makeFrontend({
    address: parseAddress('198.51.100.10'),
    protocol: 'TCP',
    port: parsePort(80),
    ...(parts.nodePort === undefined ? { destinations: [destination('10.9.8.7')] } : {}),
    ...parts,
  });
const filter = (port: PortFilter['port']): PortFilter => ({
  protocol: 'TCP',
  port,
  endPort: undefined,
});
const policy = (name: string, ports: PortFilter[]): Policy => ({
  namespace: 'default',
  name,
  ingress: [
    {
      from: [{ cidr: parsePrefix('185.187.0.0/16'), except: [parsePrefix('185.187.13.0/24')] }],
      ports,
    },
  ],
});

test('writes the same configuration as the original controller', () => {
  const pol = policy('pol', [filter(parsePort(8080))]);
  const { claim, problems } = writeV1Config({
    ...nothing,
    frontends: [frontend({ destinations: [destination('10.9.8.7'), destination('10.9.8.6')] })],
    policies: new Map([[policyKey(pol), pol]]),
    assignments: [
      { address: parseAddress('10.9.8.7'), policies: [policyKey(pol)], namedPorts: [] },
    ],
  });
  expect(problems.size).toBe(0);
  expect(claim).toEqual({
    ingress: [
      {
        address: '198.51.100.10',
        ports: [
          {
            protocol: 'TCP',
            'inbound-port': 80,
            'destination-addresses': ['10.9.8.6', '10.9.8.7'],
            'destination-port': 8080,
            policy: '',
          },
        ],
      },
    ],
    'network-policies': [
      {
        name: 'default.pol',
        'allowed-ingresses': [
          {
            'ipblock-filters': [{ allow: '185.187.0.0/16', block: ['185.187.13.0/24'] }],
            'port-filters': [{ protocol: 'TCP', port: 8080 }],
          },
        ],
      },
    ],
    'policy-assignments': [{ address: '10.9.8.7', 'network-policies': ['default.pol'] }],
  });
  expect(readV1Config(claim, 1, 'always').frontends.size).toBe(1);
});

test('uses the node ports of all nodes of the family', () => {
  const { claim } = writeV1Config({
    ...nothing,
    frontends: [frontend({ nodePort: parsePort(30080) })],
    nodes: ['10.0.0.2', '2001:db8::1', '10.0.0.1'].map(parseAddress),
  });
  const [read] = readV1Config(claim, 1, 'always').frontends.values();
  expect(read?.destinations).toEqual([
    destination('10.0.0.1', 30_080),
    destination('10.0.0.2', 30_080),
  ]);
});

test.each<[string, Partial<FrontendParts>]>([
  ['TCP and UDP only', { protocol: 'SCTP' }],
  ['support source ranges', { sourceRanges: [parsePrefix('10.0.0.0/8')] }],
  [
    'only one port for all',
    { destinations: [destination('10.0.0.1'), destination('10.0.0.2', 81)] },
  ],
  ['to nodes unchanged', { routedTo: 'nodes', destinations: undefined }],
  ['IPv4 only', { address: parseAddress('2001:db8::1'), destinations: [] }],
])("leaves out and reports what it can't serve: %s", (text, parts) => {
  const good = frontend({ port: parsePort(443) });
  const { claim, problems } = writeV1Config({ ...nothing, frontends: [frontend(parts), good] });
  expect([...problems.values()].join()).toContain(text);
  expect([...readV1Config(claim, 1, 'always').frontends.values()]).toHaveLength(1);
});

test('resolves a named port for each pod, and admits nothing for a missing name', () => {
  const pol = policy('named', [filter('http')]);
  const pod = (address: string, port?: number) => ({
    address: parseAddress(address),
    policies: [policyKey(pol)],
    namedPorts:
      port === undefined ? [] : [{ name: 'http', protocol: 'TCP' as const, port: parsePort(port) }],
  });
  const { claim } = writeV1Config({
    ...nothing,
    policies: new Map([[policyKey(pol), pol]]),
    assignments: [
      pod('10.0.0.1', 8080),
      pod('10.0.0.2', 9090),
      pod('10.0.0.3', 8080),
      pod('10.0.0.4'),
    ],
  });
  const { policies, assignments } = readV1Config(claim, 1, 'always');
  const allowed = [...assignments.values()].map(({ policies: keys }) =>
    keys.flatMap((key) => policies.get(key)?.ingress.flatMap(({ ports }) => ports ?? []) ?? []),
  );
  expect(allowed.map((filters) => filters.map(({ port }) => port))).toEqual([
    [8080],
    [9090],
    [8080],
    [],
  ]);
  expect(policies.size).toBe(3);
});

const assigned = (address: string, ...policies: Policy[]) => ({
  address: parseAddress(address),
  policies: policies.map(policyKey),
  namedPorts: [],
});
const written = (policies: readonly Policy[], ...assignments: ReturnType<typeof assigned>[]) => {
  const byKey = new Map(policies.map((each) => [policyKey(each), each]));
  const { claim } = writeV1Config({ ...nothing, policies: byKey, assignments });
  return claim as {
    'network-policies': { name: string; 'allowed-ingresses': object[] }[];
    'policy-assignments': { 'network-policies': string[] }[];
  };
};

test('writes a range of one port as a single port, which the agent accepts', () => {
  const one = { ...filter(parsePort(80)), endPort: parsePort(80) };
  const two = { ...filter(parsePort(80)), endPort: parsePort(81) };
  const pol = policy('pol', [one, two]);
  const [only] = written([pol], assigned('10.0.0.1', pol))['network-policies'];
  expect(only?.['allowed-ingresses']).toMatchObject([
    {
      'port-filters': [
        { protocol: 'TCP', port: 80 },
        { protocol: 'TCP', port: 80, 'end-port': 81 },
      ],
    },
  ]);
  expect(JSON.stringify(only).match(/end-port/g)).toHaveLength(1);
});

test('gives policies of a namespace that begins with a digit a name that nft can parse', () => {
  const digit = { ...policy('pol', [filter(parsePort(80))]), namespace: '1team' };
  const similar = { ...policy('pol', [filter(parsePort(81))]), namespace: 'n-1team' };
  const claim = written(
    [digit, similar],
    assigned('10.0.0.1', digit),
    assigned('10.0.0.2', similar),
  );
  const names = claim['network-policies'].map(({ name }) => name);
  expect(names.every((name) => /^[a-z][a-z0-9.-]*$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(2);
  expect(claim['policy-assignments'].map((each) => each['network-policies'])).toEqual([
    [names[0]],
    [names[1]],
  ]);
});
