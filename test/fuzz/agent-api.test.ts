import path from 'node:path';
import fc from 'fast-check';
import { Agent } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from '../../packages/causeway/src/gateway/agent/gateway.ts';
import { EventStream } from '../../packages/causeway/src/gateway/agent/api/event-stream.ts';
import {
  startAgentServer,
  type AgentServer,
} from '../../packages/causeway/src/gateway/agent/api/server.ts';
import type { AgentStatus } from '../../packages/causeway/src/gateway/protocol/agent-status.ts';
import { digestOf, signRequest } from '../../packages/causeway/src/gateway/protocol/tokens.ts';
import { V1Api } from '../../packages/causeway/src/gateway/agent/api/v1-api.ts';
import { V2Api } from '../../packages/causeway/src/gateway/agent/api/v2-api.ts';
import { Overrides } from '../../packages/causeway/src/gateway/agent/overrides.ts';
import { overrideNames } from '../../packages/causeway/src/gateway/protocol/override.ts';
import { StateStore } from '../../packages/causeway/src/gateway/agent/store/state-store.ts';
import {
  FakeWorld,
  Mortality,
} from '../../packages/causeway/src/gateway/agent/testing/fake-world.ts';
import { traceConnection } from '../../packages/causeway/src/gateway/agent/trace/trace-connection.ts';
import { tryParseAddress } from '../../packages/base/src/address/address.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { hostileJson, hostileText, nearly } from './hostile.ts';

// A client with the agents' secret sends anything to every call.

const { signal } = new AbortController();
const secret = Buffer.from('a secret of enough bytes');
const name = 'g1';
const dispatcher = new Agent({ connections: 4 });
const reasons: string[] = [];
let server: AgentServer;
let stop: () => Promise<void>;

beforeAll(async () => {
  const directory = await scratchDirectory('fuzz-agent');
  const { store, stored } = await StateStore.open(directory);
  const world = new FakeWorld();
  const common = { clock: systemClock, log: discardLog, metrics: noMetrics };
  const gateway = new Gateway({
    ruleset: world.ruleset(new Mortality()),
    announcer: world.announcer(new Mortality()),
    ...common,
    store,
    stored,
    limits: { share: 0.5, count: 20 },
    overrides: await Overrides.load(path.join(directory, 'overrides.json')),
    deleteConnections: () => Promise.resolve(),
    deleteStaleEntries: () => Promise.resolve(),
  });
  await gateway.restore(signal);
  const status = () => ({ agent: name }) as AgentStatus;
  const servable = { families: new Set([4, 6] as const), taken: new Map() };
  const secrets = () => [secret];
  const layout = {
    table: 'causeway',
    hashSeed: 1,
    localSources: [],
    hairpin: false,
    resumeConnections: true,
  };
  server = await startAgentServer(
    {
      host: '127.0.0.1',
      port: 0,
      socketFile: path.join(directory, 'api.sock'),
      ...common,
      tls: undefined,
      events: new EventStream(() => {}),
      status,
      metricsPage: () => Promise.resolve({ type: 'text/plain', body: '' }),
      v1: new V1Api({
        ...common,
        gateway,
        clock: systemClock,
        masquerade: 'always',
        servable,
        secrets,
      }),
      v2: new V2Api({
        name,
        gateway,
        clock: systemClock,
        servable,
        secrets,
        status,
        limits: { totalBytes: 100_000, lineBytes: 10_000 },
        setRelief: () => {},
        sendUnhealthy: (unhealthy) => {
          expect([...unhealthy].every((each) => tryParseAddress(each) === each)).toBe(true);
          return Promise.resolve();
        },
        pull: (override, reason) => {
          expect(overrideNames).toContain(override);
          if (reason !== undefined) reasons.push(reason);
          return Promise.resolve();
        },
        countConnections: () => Promise.resolve([]),
        pins: {
          prepare: () => Promise.resolve([]),
          since: () =>
            Promise.resolve({ cursor: { epoch: 'e', version: 0 }, set: [], removed: [] }),
          take: () => Promise.resolve(),
        },
        trace: (question) =>
          traceConnection(
            { state: gateway.state, unhealthy: gateway.unhealthy, settings: layout },
            question,
          ),
      }),
    },
    signal,
  );
  stop = async () => {
    await dispatcher.close();
    await server.close();
    await store.close();
    await removeDirectory(directory);
  };
});
afterAll(() => stop());

const question = {
  client: '198.51.100.7',
  clientPort: 40_000,
  address: '192.0.2.1',
  protocol: 'TCP',
  port: 80,
  service: 'shop/web',
};
const valid: Readonly<Record<string, unknown>> = {
  '/v2/push': { causeway: 'agent/v2', revision: 2, kind: 'state', generation: 7 },
  '/v2/unhealthy': { unhealthy: ['10.0.0.1', '2001:db8::1'] },
  '/v2/relief': { isAvailable: true },
  '/v2/pins': { set: ['198.51.100.7 40000 192.0.2.1 80 10.79.1.2 8080'], removed: [] },
  '/v2/pins/collect': { since: { epoch: 'e', version: 7 } },
  '/v2/overrides': { override: 'frozen', on: true, reason: 'new disks' },
  '/v2/undo': { reason: 'it was wrong' },
  '/v2/trace': question,
};
const call = fc.constantFrom(...Object.keys(valid)).chain((where) =>
  fc.record({
    where: fc.constant(where),
    type: fc.constantFrom('application/jsonl', 'application/json', 'x/y'),
    encoding: fc.constantFrom('identity', 'gzip', 'zstd', 'br'),
    body: fc.oneof(
      fc
        .oneof(nearly(valid[where]), hostileJson, fc.constant(valid[where]))
        .map((value) => JSON.stringify(value)),
      hostileText,
    ),
  }),
);

test('a request with the secret succeeds or is rejected with a message, without an internal error', async () => {
  const statuses = new Map<string, Set<number>>();
  await fc.assert(
    fc.asyncProperty(call, async ({ where, type, encoding, body }) => {
      const bytes = Buffer.from(body ?? '');
      const binding = { audience: name, method: 'POST', path: where };
      const token = await signRequest(secret, binding, digestOf(bytes), systemClock.wallTime());
      const isPlain = encoding === 'identity';
      const answer = await dispatcher.request({
        origin: server.url,
        path: where,
        method: 'POST',
        body: bytes,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': type,
          ...(isPlain ? {} : { 'content-encoding': encoding }),
        },
      });
      const text = await answer.body.text();
      const details = `${where} ${type} ${encoding} ${body}: ${text}`;
      expect(answer.statusCode, details).toBeLessThan(500);
      expect(text).not.toMatch(/ at .*\.ts:|node_modules|a secret of enough/);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      statuses.set(where, (statuses.get(where) ?? new Set()).add(answer.statusCode));
    }),
    { numRuns: 400 },
  );
  for (const where of ['/v2/unhealthy', '/v2/overrides', '/v2/trace']) {
    expect([...(statuses.get(where) ?? [])], where).toContain(200);
  }
  expect(reasons.every((reason) => /^[\x20-\x7e]{1,200}$/.test(reason))).toBe(true);
});
