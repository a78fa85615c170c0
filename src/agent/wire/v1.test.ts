import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readV1Config } from './v1.ts';

/** As the original controller sent it, for the layer Pod. */
const recorded = {
  ingress: [
    {
      address: '198.51.100.10',
      ports: [
        {
          protocol: 'TCP',
          'inbound-port': 80,
          'destination-addresses': ['10.9.8.7', '10.9.8.6'],
          'destination-port': 8080,
          policy: '',
        },
      ],
    },
  ],
  'network-policies': [
    {
      name: 'pol',
      'allowed-ingresses': [
        {
          'ipblock-filters': [{ allow: '185.187.0.0/16', block: ['185.187.13.0/24'] }],
          'port-filters': [{ protocol: 'TCP', port: 8080 }],
        },
      ],
    },
  ],
  'policy-assignments': [{ address: '10.9.8.7', 'network-policies': ['pol'] }],
};

describe('a /v1 configuration', () => {
  test('is read as the original controller sends it', () => {
    const push = readV1Config(recorded, 4, 'always');
    expect(push.header).toEqual({
      kind: 'state',
      generation: 4,
      base: undefined,
      meansRemoval: true,
    });
    const [endpoint] = push.endpoints.values();
    expect(endpoint).toMatchObject({ address: '198.51.100.10', port: 80, masquerade: 'always' });
    expect(endpoint?.destinations.map((to) => `${to.address} ${to.port}`)).toEqual([
      '10.9.8.6 8080',
      '10.9.8.7 8080',
    ]);
    expect([...push.assignments.values()]).toEqual([
      { address: '10.9.8.7', policies: ['/pol'], namedPorts: [] },
    ]);
  });

  test.each([
    ['null', { ingress: null, 'network-policies': null, 'policy-assignments': null }],
    ['[]', { ingress: [], 'network-policies': [], 'policy-assignments': [] }],
    ['nothing', {}],
  ])('whose lists are %s is empty', (_name, claim) => {
    expect(readV1Config(claim, 1, 'needed').endpoints.size).toBe(0);
  });

  test('whose filters are null lets everybody in, and a named port nobody', () => {
    const ingresses = [
      { 'ipblock-filters': null, 'port-filters': null },
      { 'ipblock-filters': [], 'port-filters': [{ protocol: 'TCP', port: 0 }] },
    ];
    const push = readV1Config(
      { 'network-policies': [{ name: 'pol', 'allowed-ingresses': ingresses }] },
      1,
      'needed',
    );
    expect([...push.policies.values()][0]?.ingress).toEqual([
      { from: undefined, ports: undefined },
      { from: undefined, ports: [] },
    ]);
  });

  const port = recorded.ingress[0]?.ports[0];
  const withPort = (change: object) => ({
    ingress: [{ address: '198.51.100.10', ports: [{ ...port, ...change }] }],
  });
  test.each([
    ['SCTP', withPort({ protocol: 'SCTP' })],
    ['a port of 0', withPort({ 'inbound-port': 0 })],
    ['the other family', withPort({ 'destination-addresses': ['2001:db8::1'] })],
    ['an address with syntax', withPort({ 'destination-addresses': ['10.0.0.1 }; drop'] })],
    ['the same port twice', { ingress: [recorded.ingress[0], recorded.ingress[0]] }],
    ['a policy named like a rule', { 'network-policies': [{ name: 'a { accept }' }] }],
    [
      'an unknown policy',
      { 'policy-assignments': [{ address: '10.0.0.1', 'network-policies': ['other'] }] },
    ],
    ['a string', 'ingress'],
  ])('with %s is refused as a whole', (_name, claim) => {
    expect(() => readV1Config(claim, 1, 'needed')).toThrow();
  });

  test('of any shape is understood or refused, never half of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (ingress, policies) => {
        try {
          const push = readV1Config({ ingress, 'network-policies': policies }, 1, 'needed');
          expect(push.complaints).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});
