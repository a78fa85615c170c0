import fs from 'node:fs/promises';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf, signRequest } from '../../../packages/causeway/src/gateway/protocol/tokens.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { secret, Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

/** Part of every made-up text here, so that it can be found where it must not be. */
const mark = 'zqzq';

const hostileText = fc.oneof(
  fc.string().map((text) => `${mark}${text}`),
  fc.constantFrom(
    `10.0.0.1 } ; flush ruleset #${mark}`,
    `10.0.0.1\n}\nvrrp_script ${mark} { script "/bin/touch /tmp/${mark}" }`,
    `10.0.0.1/32 dev lo ${mark}`,
    `$(touch /tmp/${mark})`,
    `; add rule inet causeway input drop comment "${mark}"`,
    `\u0000\u001b[31m${mark}`,
    `010.0.0.1${mark}`,
    `fe80::1%ext${mark}`,
    `../../${mark}`,
    mark.repeat(2_000),
  ),
);
const hostileNumber = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 65536, 2 ** 53));
const hostile = fc.oneof(hostileText, hostileNumber, fc.constant(null), fc.boolean());

describe.skipIf(!isRunnable)('hostile requests', () => {
  let topology: Topology;
  let dispatcher: Agent;
  let before: string;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgent('g1');
    const frontends = [frontend('10.77.1.1', 'TCP', ['p1', 'p2'])];
    const lines = writeState({ ...nothing, frontends }, { generation: 1_000 });
    await topology.client('g1').push([...lines], signal);
    before = await topology.describe('g1');
    dispatcher = new Agent({ connect: { socketPath: topology.runtimeFile('g1', 'api.sock') } });
  });
  afterAll(async () => {
    await dispatcher.close();
    await topology.stop();
  });

  async function send(path: string, type: string, body: Buffer, token?: string): Promise<number> {
    const headers: Record<string, string> = { 'content-type': type };
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    const response = await request(`http://localhost${path}`, {
      method: 'POST',
      dispatcher,
      headers,
      body,
    });
    await response.body.dump();
    return response.statusCode;
  }

  async function expectUntouched(generation = 1_000): Promise<void> {
    expect(await topology.describe('g1')).toBe(before);
    const files = [
      ...['keepalived.conf', 'announced.json'].map((file) => topology.runtimeFile('g1', file)),
      topology.stateFile('g1', 'accepted'),
    ];
    for (const file of files) expect(await fs.readFile(file, 'utf8')).not.toContain(mark);
    expect((await topology.client('g1').status(signal)).generation).toBe(generation);
  }

  test('of /v1 change nothing unless they are valid', async () => {
    const configs = fc.record({
      ingress: fc.array(
        fc.record({
          address: hostile,
          ports: fc.array(
            fc.record({
              protocol: fc.oneof(fc.constant('TCP'), hostile),
              'inbound-port': fc.oneof(fc.constant(80), hostile),
              'destination-addresses': fc.oneof(fc.array(hostile), hostile),
              'destination-port': hostile,
              policy: hostile,
            }),
            { minLength: 1 },
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      'network-policies': fc.oneof(fc.constant(null), fc.array(fc.record({ name: hostile }))),
      'policy-assignments': fc.oneof(hostile, fc.array(fc.record({ address: hostile }))),
    });
    await fc.assert(
      fc.asyncProperty(configs, async (config) => {
        const token = await new SignJWT({ 'load-balancer-config': config })
          .setProtectedHeader({ alg: 'HS256' })
          .setExpirationTime('15s')
          .sign(secret);
        expect(await send('/v1/apply', 'application/jwt', Buffer.from(token))).toBe(400);
      }),
      { numRuns: 300 },
    );
    await expectUntouched();
  });

  test('of /v2 change nothing unless they are valid', async () => {
    const record = fc.oneof(
      fc.record({ frontend: fc.record({ address: hostile, protocol: hostile, port: hostile }) }),
      fc.record({ policy: fc.record({ namespace: hostile, name: hostile, ingress: hostile }) }),
      fc.record({ assignment: fc.record({ address: hostile, policies: hostile }) }),
      fc.record({ node: hostile }),
      fc.dictionary(fc.string(), hostile),
    );
    const header = fc.record({
      causeway: fc.constantFrom('agent/v2', mark),
      revision: fc.constantFrom(1, 1, 2, mark),
      kind: fc.constantFrom('delta', 'state', mark),
      generation: fc.oneof(fc.constantFrom(1, 999, 1_000, 5_000), hostile),
      base: fc.oneof(fc.constant(999), hostile),
    });
    await fc.assert(
      fc.asyncProperty(header, fc.array(record), fc.string(), async (first, records, junk) => {
        const lines = [first, ...records].map((value) => JSON.stringify(value));
        const body = Buffer.from([...lines, junk, '{"end":{"records":1}}'].join('\n'));
        const binding = { audience: 'g1', method: 'POST', path: '/v2/push' };
        const token = await signRequest(secret, binding, digestOf(body), Date.now());
        expect(await send('/v2/push', 'application/jsonl', body, token)).toBeGreaterThanOrEqual(
          400,
        );
      }),
      { numRuns: 300 },
    );
    await expectUntouched();
  });

  test('an invalid frontend in a valid update keeps its previous state, and no text of it is kept', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(hostile, { minLength: 1 }),
        fc.boolean(),
        async (texts, isRouted) => {
          const destinations = texts.map((address) => ({ address, port: 8080 }));
          const { generation } = await topology.client('g1').status(signal);
          const lines = [
            { causeway: 'agent/v2', revision: 2, kind: 'state', generation: generation + 1 },
            {
              frontend: {
                address: '10.77.1.1',
                protocol: 'TCP',
                port: 80,
                ...(isRouted ? { routedTo: texts } : { destinations }),
              },
            },
            { end: { records: 1 } },
          ].map((line) => `${JSON.stringify(line)}\n`);
          const answer = await topology.client('g1').push(lines, signal);
          expect(answer.committed).toBe(false);
          expect(answer.older).toMatchObject([{ address: '10.77.1.1', generation: 1_000 }]);
        },
      ),
      { numRuns: 50 },
    );
    await expectUntouched(1_050);
  });
});
