import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { parsePrefix } from '@causeway/base/address/prefix';
import { canonicalRanges } from '@causeway/base/address/range-list';
import { manyRanges } from '@causeway/kubernetes/objects/large-service.testing';
import { frontendKey, makeFrontend, type Frontend } from './frontend.ts';
import { UpdateReader, type Update } from './update.ts';
import { writeDelta, writeState } from './write-update.ts';

const web = makeFrontend({
  address: parseAddress('192.0.2.1'),
  protocol: 'TCP',
  port: parsePort(80),
  destinations: [{ address: parseAddress('10.0.0.1'), port: parsePort(8080), weight: 1 }],
});
const notRouted = { nodePort: undefined, routedTo: undefined };
const older = { generation: 7, revision: 2 };
const nothing = { frontends: [], policies: [], assignments: [], nodes: [] };

function read(lines: Iterable<string>): Update {
  const reader = new UpdateReader();
  for (const line of lines) reader.line(line);
  return reader.result();
}

function state(...records: unknown[]): string[] {
  return [
    JSON.stringify({ causeway: 'agent/v2', revision: 1, kind: 'state', generation: 7 }),
    ...records.map((record) => JSON.stringify(record)),
    JSON.stringify({ end: { records: records.length } }),
  ];
}

describe('an update', () => {
  test('is read as it was written', () => {
    const push = read(writeState({ ...nothing, frontends: [web] }, { generation: 7 }));
    expect(push.header).toEqual({
      kind: 'state',
      generation: 7,
      base: undefined,
      meansRemoval: false,
      withholdRemovals: false,
    });
    expect([...push.frontends]).toEqual([[frontendKey(web), web]]);
    expect(push.complaints).toEqual([]);
  });

  test('contains the source ranges of a Service once, and its ports share the list', () => {
    const sourceRanges = canonicalRanges(manyRanges(2000).map(parsePrefix));
    const frontends = Array.from({ length: 1000 }, (_, index) =>
      makeFrontend({ ...web, ...notRouted, port: parsePort(1000 + index), sourceRanges }),
    );
    const lines = [...writeState({ ...nothing, frontends }, { generation: 7 })];
    // A header, one record of ranges, one record for each frontend, a trailer.
    expect(lines).toHaveLength(1003);
    const frontendLines = lines.filter((line) => line.startsWith('{"frontend"'));
    expect(Math.max(...frontendLines.map((line) => line.length))).toBeLessThan(300);
    const push = read(lines);
    expect([...push.frontends.values()]).toEqual(frontends);
    expect(new Set([...push.frontends.values()].map((each) => each.sourceRanges)).size).toBe(1);
    // An older agent gets them with each frontend.
    const few = writeState({ ...nothing, frontends: frontends.slice(0, 2) }, { ...older });
    expect([...read(few).frontends.values()]).toEqual(frontends.slice(0, 2));
  });

  test('with missing or wrong ranges makes the frontend bad instead of open', () => {
    const sourceRanges = [parsePrefix('192.0.2.0/24')];
    const frontend = makeFrontend({ ...web, ...notRouted, sourceRanges });
    const [header = '', ranges = '', record = ''] = writeState(
      { ...nothing, frontends: [frontend] },
      { generation: 7 },
    );
    const withRanges = (...records: string[]) =>
      read([header, ...records, JSON.stringify({ end: { records: records.length } })]);
    expect(withRanges(ranges, record).complaints).toEqual([]);
    const wider = ranges.replace('192.0.2.0/24', '0.0.0.0/0');
    for (const push of [
      withRanges(record),
      withRanges(record, ranges),
      withRanges(wider, record),
    ]) {
      expect([...push.frontends]).toEqual([]);
      expect([...push.badFrontends.keys()]).toEqual(['192.0.2.1:80/TCP']);
    }
  });

  test('of kind delta contains removals', () => {
    const push = read(
      writeDelta(
        {
          ...nothing,
          removedFrontends: [web],
          removedPolicies: [{ namespace: 'shop', name: 'web' }],
          removedAssignments: [parseAddress('10.0.0.1')],
          removedNodes: [parseAddress('10.1.0.1')],
        },
        { generation: 8, base: 7, meansRemoval: true },
      ),
    );
    expect(push.header).toMatchObject({ kind: 'delta', base: 7, meansRemoval: true });
    expect([...push.removedFrontends]).toEqual(['192.0.2.1:80/TCP']);
    expect([...push.removedPolicies]).toEqual(['shop/web']);
    expect([...push.removedAssignments]).toEqual(['10.0.0.1']);
    expect([...push.removedNodes]).toEqual(['10.1.0.1']);
  });

  test('with conflicting records of a key drops them in any order', () => {
    const id = { address: '192.0.2.1', protocol: 'TCP', port: 80 };
    const pod = { address: '10.0.0.1' };
    const policy = { namespace: 'shop', name: 'web' };
    const node = { address: '10.1.0.1' };
    const pairs: [object, object][] = [
      [{ frontend: { ...id, destinations: [] } }, { removeFrontend: id }],
      [{ policy: { ...policy, ingress: [] } }, { removePolicy: policy }],
      [{ policy: { ...policy, ingress: [] } }, { policy: { ...policy, ingress: [{}] } }],
      [{ assignment: { ...pod, policies: [] } }, { removeAssignment: pod }],
      [{ assignment: { ...pod, policies: [policy] } }, { assignment: { ...pod, policies: [] } }],
      [{ node }, { removeNode: node }],
    ];
    for (const [one, other] of pairs) {
      // A third record conflicts too, although the first two were dropped.
      for (const records of [
        [one, other],
        [other, one],
        [one, other, one],
      ]) {
        const lines = state(...records);
        const header = { causeway: 'agent/v2', revision: 1, kind: 'delta', generation: 8, base: 7 };
        const push = read([JSON.stringify(header), ...lines.slice(1)]);
        const said = [
          ...[push.frontends, push.policies, push.assignments, push.nodes],
          ...[push.removedFrontends, push.removedPolicies],
          ...[push.removedAssignments, push.removedNodes],
        ];
        expect(said.map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
        expect(push.complaints).toHaveLength(records.length - 1);
        const bad = push.badFrontends.size + push.badPolicies.size + push.badAssignments.size;
        expect(bad).toBe('node' in one ? 0 : 1);
      }
    }
  });

  test('keeps and reports a frontend with an unreadable removal', () => {
    const id = { address: '192.0.2.1', protocol: 'TCP', port: 80, now: true };
    const header = { causeway: 'agent/v2', revision: 1, kind: 'delta', generation: 8, base: 7 };
    const records = [{ removeFrontend: id }, { removeAssignment: { address: '10.0.0.1', now: 1 } }];
    const push = read([JSON.stringify(header), ...state(...records).slice(1)]);
    expect([...push.badFrontends.keys()]).toEqual(['192.0.2.1:80/TCP']);
    expect(push.badAssignments.size).toBe(0);
    expect(push.complaints).toHaveLength(2);
  });

  test('rejects routes in revision 1 and accepts them in revision 2', () => {
    const record = {
      frontend: { address: '192.0.2.1', protocol: 'TCP', port: 80, routedTo: ['10.0.0.2'] },
    };
    expect(read(state(record)).complaints[0]?.message).toContain('routedTo');
    const lines = state(record);
    lines[0] = (lines[0] ?? '').replace('"revision":1', '"revision":2');
    expect(read(lines).frontends.get(frontendKey(web))?.routedTo).toEqual(['10.0.0.2']);
  });

  test.each([
    [1, { oldest: 1, newest: 1 }, []],
    [2, { oldest: 2, newest: 3 }, ['nodes']],
  ] as const)('in revision %i is read by agents that support %o', (revision, known, expected) => {
    const routed = makeFrontend({ ...web, destinations: undefined, routedTo: 'nodes' });
    const reader = new UpdateReader(known);
    const content = { ...nothing, frontends: [routed] };
    for (const line of writeState(content, { generation: 7, revision })) reader.line(line);
    const [read] = reader.result().frontends.values();
    expect([read?.routedTo].filter((way) => way !== undefined)).toEqual(expected);
    expect(read?.destinations).toEqual([]);
  });

  const bad: [string, object][] = [
    ['an address with nft syntax', { address: '10.0.0.1; flush ruleset', port: 80 }],
    ['an address with leading zeros', { address: '010.0.0.1', port: 80 }],
    ['a port out of range', { address: '10.0.0.1', port: 65536 }],
    ['the other family', { address: '2001:db8::1', port: 80 }],
    ['an unknown field', { address: '10.0.0.1', port: 80, wieght: 2 }],
    ['a negative weight', { address: '10.0.0.1', port: 80, weight: -1 }],
  ];
  test.each(bad)(
    'rejects only the frontend with a destination that has %s',
    (_name, destination) => {
      const push = read(
        state(
          {
            frontend: {
              address: '192.0.2.1',
              protocol: 'TCP',
              port: 80,
              destinations: [destination],
            },
          },
          { frontend: { address: '192.0.2.2', protocol: 'TCP', port: 80, destinations: [] } },
        ),
      );
      expect([...push.frontends.keys()]).toEqual(['192.0.2.2:80/TCP']);
      expect([...push.badFrontends.keys()]).toEqual(['192.0.2.1:80/TCP']);
      expect(push.complaints).toMatchObject([
        { record: 1, frontend: { address: '192.0.2.1', protocol: 'TCP', port: 80 } },
      ]);
    },
  );

  test('rejects a frontend that it contains more than once', () => {
    const record = {
      frontend: { address: '192.0.2.1', protocol: 'TCP', port: 80, destinations: [] },
    };
    const push = read(state(record, record, record));
    expect(push.frontends.size).toBe(0);
    expect([...push.badFrontends.keys()]).toEqual(['192.0.2.1:80/TCP']);
  });

  const refusedRequests: [string, string[], string][] = [
    [
      'is truncated',
      state({ node: { address: '10.0.0.1' } }).slice(0, -1),
      'truncated|ends before',
    ],
    ['has fewer records than its trailer says', state({}, {}).toSpliced(1, 1), 'says it has 2'],
    ['continues after its end', [...state(), '{}'], 'after its end record'],
    ['has no header', ['{"frontend":{}}'], 'header'],
    ['is not JSON', ['nft flush ruleset'], 'JSON'],
    ['has no generation', ['{"causeway":"agent/v2","revision":1,"kind":"state"}'], 'generation'],
    [
      'has an unsupported revision',
      ['{"causeway":"agent/v2","revision":99,"kind":"state","generation":1}'],
      'revisions 1 to 4',
    ],
    [
      'is a delta without a base',
      ['{"causeway":"agent/v2","revision":1,"kind":"delta","generation":1}'],
      'base',
    ],
  ];
  test.each(refusedRequests)('that %s is rejected as a whole', (_name, lines, message) => {
    expect(() => read(lines)).toThrow(new RegExp(message));
  });

  test('never throws for the contents of one record, and never passes raw text on', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (records) => {
        const objects = records.map((record) => ({ frontend: record }));
        const push = read(state(...objects));
        expect(push.frontends.size + push.complaints.length).toBe(objects.length);
        for (const { message } of push.complaints) expect(message).toMatch(/^[\x20-\x7e]{1,400}$/);
        for (const reason of push.badFrontends.values()) expect(reason).not.toContain('"');
      }),
    );
  });

  test('survives a round trip with any valid frontends', () => {
    fc.assert(
      fc.property(fc.array(frontends(), { maxLength: 20 }), (list) => {
        const unique = new Map(list.map((frontend) => [frontendKey(frontend), frontend]));
        const lines = writeState({ ...nothing, frontends: unique.values() }, { generation: 1 });
        expect(read(lines).frontends).toEqual(unique);
      }),
    );
  });
});

function frontends(): fc.Arbitrary<Frontend> {
  const address = fc.ipV4().map(parseAddress);
  const port = fc.integer({ min: 1, max: 65535 }).map(parsePort);
  const destination = fc.record({ address, port, weight: fc.integer({ min: 0, max: 256 }) });
  const common = fc.record({
    address,
    port,
    protocol: fc.constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const),
    affinity: fc.constantFrom('none' as const, 'client' as const),
  });
  const way = fc.oneof(
    fc.record({
      destinations: fc.uniqueArray(destination, { selector: (to) => `${to.address} ${to.port}` }),
      masquerade: fc.constantFrom('needed' as const, 'always' as const),
    }),
    fc.record({ nodePort: port }),
    fc.record({ routedTo: fc.oneof(fc.constant('nodes' as const), fc.array(address)) }),
  );
  return fc.tuple(common, way).map(([parts, more]) => makeFrontend({ ...parts, ...more }));
}
