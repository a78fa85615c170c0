import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readV1Config } from './v1.ts';

/** Recorded from the original controller, for the layer Pod. */
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
  test('is read in the format of the original controller', () => {
    const push = readV1Config(recorded, 4, 'always');
    expect(push.header).toEqual({
      kind: 'state',
      generation: 4,
      base: undefined,
      meansRemoval: true,
      withholdRemovals: false,
    });
    const [frontend] = push.frontends.values();
    expect(frontend).toMatchObject({ address: '198.51.100.10', port: 80, masquerade: 'always' });
    expect(frontend?.destinations.map((to) => `${to.address} ${to.port}`)).toEqual([
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
    ['missing', {}],
  ])('with lists that are %s is empty', (_name, claim) => {
    expect(readV1Config(claim, 1, 'needed').frontends.size).toBe(0);
  });

  test('with null filters allows all clients, and with a named port none', () => {
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
    ['a duplicate port', { ingress: [recorded.ingress[0], recorded.ingress[0]] }],
    ['a policy named like a rule', { 'network-policies': [{ name: 'a { accept }' }] }],
    [
      'an unknown policy',
      { 'policy-assignments': [{ address: '10.0.0.1', 'network-policies': ['other'] }] },
    ],
    ['a string', 'ingress'],
  ])('with %s is rejected as a whole', (_name, claim) => {
    expect(() => readV1Config(claim, 1, 'needed')).toThrow();
  });

  test('of any shape is accepted or rejected as a whole', () => {
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

  test('of valid parts is accepted if no frontend is a duplicate and every destination has its family', () => {
    const to = fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1');
    const ports = fc.array(
      fc.record({
        protocol: fc.constantFrom('TCP', 'UDP'),
        'inbound-port': fc.constantFrom(1, 80, 65535),
        'destination-addresses': fc.oneof(fc.constant(null), fc.array(to, { maxLength: 6 })),
        'destination-port': fc.constantFrom(1, 8080),
      }),
      { maxLength: 3 },
    );
    const address = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1');
    const claims = fc.array(fc.record({ address, ports }), { maxLength: 4 });
    const isSix = (text: string) => text.includes(':');
    let taken = 0;
    fc.assert(
      fc.property(claims, (ingress) => {
        const all = ingress.flatMap((each) =>
          each.ports.map((one) => ({
            key: `${each.address} ${one.protocol} ${one['inbound-port']}`,
            isSix: isSix(each.address),
            to: one['destination-addresses'] ?? [],
          })),
        );
        const isGood =
          new Set(all.map(({ key }) => key)).size === all.length &&
          all.every((each) => each.to.every((one) => isSix(one) === each.isSix));
        if (!isGood) {
          expect(() => readV1Config({ ingress }, 1, 'always')).toThrow(
            /appears more|not of the family/,
          );
          return;
        }
        taken += 1;
        const push = readV1Config({ ingress }, 1, 'always');
        // A duplicate destination gets the same share as a single one.
        expect([...push.frontends.values()].map(({ destinations }) => destinations.length)).toEqual(
          all.map((each) => new Set(each.to).size),
        );
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(20);
  });
});
