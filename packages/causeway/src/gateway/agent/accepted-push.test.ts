import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { familyOf, parseAddress } from '@causeway/base/address/address';
import { MemoryDriver, memoryRouting } from '@causeway/nftables/drivers/memory-driver';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { foreignAnnouncer } from './announce/foreign-announcer.ts';
import { toWholeLayout } from './apply/layout-input.ts';
import { EngineRuleset } from './engine-ruleset.ts';
import { Gateway } from './gateway.ts';
import { Overrides } from './overrides.ts';
import type { GatewayState } from './store/state.ts';
import { StateStore } from './store/state-store.ts';
import { UpdateReader, type Update } from '../protocol/update.ts';

// Records of accepted updates. Each record is valid alone, but may have the wrong family, be a duplicate,
// conflict with other records, or be very long.

const { signal } = new AbortController();
const layout = {
  table: 'causeway',
  hashSeed: 7,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};

let directory: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-pushes-'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

/** The small set makes records collide. */
const virtual = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2');
const inside = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1', 'fd00::2');
const port = fc.constantFrom(1, 80, 65535);
const protocol = fc.constantFrom('TCP', 'UDP', 'SCTP');
const range = fc.constantFrom(
  ...['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.3/32', '0.0.0.0/1', '128.0.0.0/1'],
  ...['::/0', '2001:db8::/32', '2001:db8::1/128', '8000::/1'],
);
const name = fc.constantFrom('a', 'b', 'a.b', `long${'-x'.repeat(100)}`);

const destination = fc.record(
  { address: inside, port, weight: fc.constantFrom(0, 1, 2, 255, 256) },
  { requiredKeys: ['address', 'port'] },
);
const way = fc.oneof(
  fc.record({ destinations: fc.array(destination, { maxLength: 8 }) }),
  fc.record({ nodePort: port }),
  fc.record({ routedTo: fc.oneof(fc.constant('nodes'), fc.array(inside, { maxLength: 5 })) }),
);
const frontendBody = fc
  .tuple(
    fc.record(
      {
        address: virtual,
        protocol,
        port,
        service: fc.constantFrom('shop/web', 'shop/other'),
        affinity: fc.constantFrom('none', 'client'),
        sourceRanges: fc.array(range, { maxLength: 6 }),
        masquerade: fc.constantFrom('needed', 'always'),
      },
      { requiredKeys: ['address', 'protocol', 'port'] },
    ),
    way,
  )
  .map(([common, more]) => ({ ...common, ...more }));
const policyId = fc.record({ namespace: fc.constantFrom('', 'shop'), name });
const policyBody = fc
  .tuple(
    policyId,
    fc.array(
      fc.record(
        {
          from: fc.array(fc.record({ cidr: range, except: fc.array(range, { maxLength: 3 }) }), {
            maxLength: 4,
          }),
          ports: fc.array(
            fc.record(
              { protocol, port: fc.oneof(port, fc.constant('http')), endPort: port },
              { requiredKeys: ['protocol'] },
            ),
            { maxLength: 4 },
          ),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
  )
  .map(([id, ingress]) => ({ ...id, ingress }));
const assignmentBody = fc.record({
  address: inside,
  policies: fc.array(policyId, { maxLength: 4 }),
  namedPorts: fc.array(fc.record({ name: fc.constantFrom('http', 'dns'), protocol, port }), {
    maxLength: 3,
  }),
});
const record = fc.oneof(
  { weight: 4, arbitrary: frontendBody.map((frontend) => ({ frontend })) },
  policyBody.map((policy) => ({ policy })),
  assignmentBody.map((assignment) => ({ assignment })),
  inside.map((address) => ({ node: { address } })),
);
const removal = fc.oneof(
  fc.record({ address: virtual, protocol, port }).map((removeFrontend) => ({ removeFrontend })),
  policyId.map((removePolicy) => ({ removePolicy })),
  inside.map((address) => ({ removeAssignment: { address } })),
  inside.map((address) => ({ removeNode: { address } })),
);
const content = fc.oneof(
  fc.record({
    kind: fc.constant('state' as const),
    records: fc.array<object>(record, { maxLength: 25 }),
  }),
  fc.record({
    kind: fc.constant('delta' as const),
    records: fc.array<object>(fc.oneof(record, removal), { maxLength: 15 }),
  }),
);

function read(kind: 'state' | 'delta', generation: number, records: readonly object[]): Update {
  const reader = new UpdateReader();
  const base = kind === 'delta' ? { base: generation - 1 } : {};
  const header = { causeway: 'agent/v2', revision: 2, kind, generation, ...base };
  for (const line of [header, ...records, { end: { records: records.length } }]) {
    reader.line(JSON.stringify(line));
  }
  return reader.result();
}

function newKernel() {
  const driver = new MemoryDriver(layout.table);
  const routing = memoryRouting(layout.table);
  return { driver, routing, ruleset: new EngineRuleset(driver, layout, routing) };
}

/** The contents of the three tables. */
async function held({ driver, routing }: ReturnType<typeof newKernel>) {
  const tables = [driver, ...routing.tables.values()].map(async (table) => {
    const present = await table.read();
    return present === undefined ? undefined : { chains: present.chains, sets: present.sets };
  });
  return Promise.all(tables);
}

/** The contents of a new kernel that has received only this state. */
async function heldFor(state: GatewayState) {
  const clean = newKernel();
  await clean.ruleset.replaceAll(toWholeLayout(state, new Set()), signal);
  return held(clean);
}

async function startGateway() {
  const kernel = newKernel();
  const { store, stored } = await StateStore.open(await fs.mkdtemp(path.join(directory, 'state-')));
  const gateway = new Gateway({
    store,
    stored,
    ruleset: kernel.ruleset,
    announcer: foreignAnnouncer(systemClock),
    overrides: await Overrides.load(path.join(directory, 'overrides.json')),
    limits: { share: 0.5, count: 20 },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    deleteConnections: () => Promise.resolve(),
    deleteStaleEntries: () => Promise.resolve(),
  });
  const push = (each: Update) =>
    gateway.push(`digest ${each.header.generation}`, () => each, signal);
  return { gateway, kernel, push, close: () => store.close() };
}

test('accepts any update of valid records and writes the rules of the accepted state', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 4 }), async (pushes) => {
      const { gateway, kernel, push, close } = await startGateway();
      try {
        for (const [index, { kind, records }] of pushes.entries()) {
          const each = read(kind, index + 1, records);
          const { errors, older } = await push(each);
          expect(gateway.state.generation).toBe(index + 1);
          // All valid frontends are served, and only requested ones.
          for (const [key, frontend] of each.frontends) {
            expect(gateway.state.frontends.get(key)).toEqual(frontend);
          }
          for (const key of gateway.state.kept.keys())
            expect(each.badFrontends.has(key) || kind === 'delta').toBe(true);
          expect(older).toHaveLength(gateway.state.kept.size);
          const messages = errors.flatMap((group) => group.errors.map(({ message }) => message));
          for (const message of messages) expect(message).toMatch(/^[\x20-\x7e]{1,400}$/);
          expect(await held(kernel)).toEqual(await heldFor(gateway.state));
        }
      } finally {
        await close();
      }
    }),
    { numRuns: 60 },
  );
});

test('rejects each backend of the other address family and reports its record', () => {
  fc.assert(
    fc.property(fc.array(frontendBody, { maxLength: 25 }), (bodies) => {
      const push = read(
        'state',
        1,
        bodies.map((frontend) => ({ frontend })),
      );
      for (const { address, destinations, routedTo } of push.frontends.values()) {
        const to = [
          ...destinations.map((each) => each.address),
          ...(typeof routedTo === 'object' ? routedTo : []),
        ];
        for (const each of to) expect(familyOf(each)).toBe(familyOf(address));
      }
      const named = new Set([...push.frontends.keys(), ...push.badFrontends.keys()]);
      const wanted = bodies.map(({ address, port: at, protocol: of }) => {
        const host = familyOf(parseAddress(address)) === 4 ? address : `[${address}]`;
        return `${host}:${at}/${of}`;
      });
      expect(named).toEqual(new Set(wanted));
    }),
  );
});

test('accepts very long lists completely', async () => {
  const { gateway, kernel, push, close } = await startGateway();
  const many = (count: number, of: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => of(index));
  const at = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  const records = [
    {
      frontend: {
        address: '192.0.2.1',
        protocol: 'TCP',
        port: 80,
        destinations: many(800, at).map((address, index) => ({
          address,
          port: 80,
          weight: 1 + (index % 256),
        })),
        sourceRanges: many(800, (index) => `${at(index * 2)}/32`),
      },
    },
    { frontend: { address: '192.0.2.2', protocol: 'UDP', port: 53, routedTo: many(500, at) } },
    {
      policy: {
        namespace: 'shop',
        name: 'web',
        ingress: [
          { from: many(400, (index) => `${at(index * 256)}/24`).map((cidr) => ({ cidr })) },
        ],
      },
    },
    ...many(400, at).map((address) => ({
      assignment: { address, policies: [{ namespace: 'shop', name: 'web' }] },
    })),
    ...many(400, at).map((address) => ({ node: { address } })),
    ...many(65, (index) => String(1_000 * index + 1)).map((each) => ({
      frontend: { address: '192.0.2.3', protocol: 'TCP', port: Number(each), nodePort: 30_000 },
    })),
  ];
  const { errors } = await push(read('state', 1, records));
  expect(errors).toEqual([]);
  expect(gateway.state.frontends.size).toBe(67);
  expect(await held(kernel)).toEqual(await heldFor(gateway.state));
  await close();
});
