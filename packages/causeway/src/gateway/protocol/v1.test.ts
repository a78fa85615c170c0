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
      meansRemoval: false,
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
  const beside = (change: object) => ({
    ingress: [
      { address: '198.51.100.10', ports: [{ ...port, ...change }, port] },
      { address: '198.51.100.11', ports: [{ ...port, 'inbound-port': 443 }] },
    ],
  });
  test.each([
    ['SCTP', { protocol: 'SCTP' }, /only TCP and UDP/],
    ['a port of 0', { 'inbound-port': 0 }, /port 0/],
    [
      'the other family',
      { 'inbound-port': 81, 'destination-addresses': ['2001:db8::1'] },
      /another address family/,
    ],
    ['a duplicate port', { 'destination-port': 9 }, /appears twice/],
  ])('sets a record with %s aside, and reads the others', (_name, change, message) => {
    const push = readV1Config(beside(change), 1, 'needed');
    expect([...push.frontends.keys()]).toEqual(['198.51.100.10:80/TCP', '198.51.100.11:443/TCP']);
    expect(push.complaints.map((each) => each.message)).toEqual([expect.stringMatching(message)]);
  });

  test('keeps the previous record of a frontend whose record is set aside', () => {
    const push = readV1Config(withPort({ 'destination-addresses': ['2001:db8::1'] }), 1, 'needed');
    expect([...push.badFrontends.keys()]).toEqual(['198.51.100.10:80/TCP']);
  });

  test('uses the first of two records of a port', () => {
    const push = readV1Config(beside({ 'destination-port': 9 }), 1, 'needed');
    expect(push.frontends.values().next().value?.destinations[0]?.port).toBe(9);
  });

  test('holds the address of a Service without node ports, without backends', () => {
    const push = readV1Config(withPort({ 'destination-port': 0 }), 1, 'needed');
    expect([...push.frontends.values()].map(({ destinations }) => destinations)).toEqual([[]]);
    expect(push.complaints).toMatchObject([{ frontend: { address: '198.51.100.10', port: 80 } }]);
  });

  test('uses the last policy of a name and the first record of a pod, like the original agent', () => {
    const rule = (number: number) => ({
      'ipblock-filters': null,
      'port-filters': [{ protocol: 'TCP', port: number }],
    });
    const push = readV1Config(
      {
        'network-policies': [
          { name: 'pol', 'allowed-ingresses': [rule(1)] },
          { name: 'other', 'allowed-ingresses': [rule(2)] },
          { name: 'pol', 'allowed-ingresses': [rule(3)] },
        ],
        'policy-assignments': [
          { address: '10.0.0.1', 'network-policies': ['pol'] },
          { address: '10.0.0.1', 'network-policies': ['other'] },
        ],
      },
      1,
      'needed',
    );
    const ports = [...push.policies.values()].map(({ name, ingress }) => [
      name,
      ingress.flatMap((each) => each.ports?.map(({ port: number }) => number)),
    ]);
    expect(ports).toEqual([
      ['pol', [3]],
      ['other', [2]],
    ]);
    expect([...push.assignments.values()]).toMatchObject([{ policies: ['/pol'] }]);
    expect(push.complaints.map(({ message }) => message)).toEqual([
      expect.stringContaining('several policies have the name pol'),
      expect.stringContaining('10.0.0.1 is assigned twice'),
    ]);
  });

  test('restricts a pod with an unknown policy to its other policies', () => {
    const push = readV1Config(
      {
        'network-policies': [{ name: 'pol' }],
        'policy-assignments': [
          { address: '10.0.0.1', 'network-policies': ['pol', 'gone'] },
          { address: '10.0.0.2', 'network-policies': ['gone'] },
        ],
      },
      1,
      'needed',
    );
    expect([...push.assignments.values()].map(({ policies }) => policies)).toEqual([['/pol'], []]);
    expect(push.complaints).toHaveLength(2);
  });

  test.each([
    ['an address with syntax', withPort({ 'destination-addresses': ['10.0.0.1 }; drop'] })],
    ['a policy named like a rule', { 'network-policies': [{ name: 'a { accept }' }] }],
    ['a port above the range', withPort({ 'inbound-port': 65_536 })],
    ['a string', 'ingress'],
  ])('with %s is rejected as a whole', (_name, claim) => {
    expect(() => readV1Config(claim, 1, 'needed')).toThrow();
  });

  test('of any shape is accepted or rejected as a whole', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (ingress, policies) => {
        try {
          const push = readV1Config({ ingress, 'network-policies': policies }, 1, 'needed');
          expect(push.frontends.size).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });

  test('of valid parts is accepted, without duplicates and destinations of another family', () => {
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
        const isOfFamily = (each: (typeof all)[number]) =>
          each.to.every((one) => isSix(one) === each.isSix);
        const good = all.filter(isOfFamily);
        const push = readV1Config({ ingress }, 1, 'always');
        const keys = new Set(good.map(({ key }) => key));
        expect(push.frontends.size).toBe(keys.size);
        expect(push.complaints).toHaveLength(all.length - keys.size);
        if (keys.size < all.length) return;
        taken += 1;
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
