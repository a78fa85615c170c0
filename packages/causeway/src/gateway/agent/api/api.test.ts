import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import type { ServableAddresses } from '../apply/servable.ts';
import { HttpAgentClient } from '../../protocol/agent-client.ts';
import { Gateway } from '../gateway.ts';
import { Overrides } from '../overrides.ts';
import { makeFrontend, type Frontend } from '../../protocol/frontend.ts';
import { StateStore } from '../store/state-store.ts';
import { FakeWorld, Mortality } from '../testing/fake-world.ts';
import { traceConnection } from '../trace/trace-connection.ts';
import { writeState } from '../../protocol/write-update.ts';
import { EventStream } from './event-stream.ts';
import { startAgentServer, type AgentServer } from './server.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { digestOf, signRequest } from '../../protocol/tokens.ts';
import { withheldIn } from '../apply/withhold.ts';
import { V1Api } from './v1-api.ts';
import { V2Api } from './v2-api.ts';

const { signal } = new AbortController();
const secret = Buffer.from('a secret of enough bytes');
const v1Secret = Buffer.from('another secret, for v1');
const layout = {
  table: 'causeway',
  hashSeed: 1,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const someStatus: AgentStatus = {
  agent: 'gateway-1',
  version: '0',
  revisions: { oldest: 1, newest: 2 },
  generation: 0,
  frontends: 0,
  older: [],
  errors: [],
  notFailoverSafe: [],
  sound: true,
  announcer: { role: 'standby', since: null, reason: null },
  frozen: null,
  drained: null,
  removal: null,
  undoSteps: 0,
  unhealthy: { heard: 0, seen: [], acted: [] },
  alarms: [],
  kernelSettings: [],
  connections: null,
};
const servable: ServableAddresses = {
  families: new Set([4]),
  taken: new Map([[parseAddress('192.0.2.254'), "this gateway's own"]]),
};
let directory: string;
let world: FakeWorld;
let gateway: Gateway;
let server: AgentServer;
let client: HttpAgentClient;
let stop: () => Promise<void>;

beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-api-'));
  world = new FakeWorld();
  const { store, stored } = await StateStore.open(directory);
  const life = new Mortality();
  gateway = new Gateway({
    ruleset: world.ruleset(life),
    announcer: world.announcer(life),
    store,
    stored,
    overrides: await Overrides.load(path.join(directory, 'overrides.json')),
    limits: { share: 0.5, count: 20 },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    deleteConnections: () => Promise.resolve(),
    deleteStaleEntries: () => Promise.resolve(),
  });
  await gateway.restore(signal);
  const status = () => ({ ...someStatus, generation: gateway.state.generation });
  const events = new EventStream(() => undefined);
  server = await startAgentServer(
    {
      host: '127.0.0.1',
      port: 0,
      socketFile: path.join(directory, 'api.sock'),
      tls: undefined,
      events,
      status,
      log: discardLog,
      metrics: noMetrics,
      metricsPage: () => Promise.resolve({ type: 'text/plain', body: 'metrics' }),
      v1: new V1Api({
        gateway,
        clock: systemClock,
        masquerade: 'always',
        servable,
        log: discardLog,
        metrics: noMetrics,
        secrets: () => [v1Secret],
      }),
      v2: new V2Api({
        name: 'gateway-1',
        gateway,
        clock: systemClock,
        limits: { totalBytes: 100_000, lineBytes: 10_000 },
        servable,
        secrets: () => [secret],
        status,
        setRelief: () => {},
        sendUnhealthy: (unhealthy) => gateway.setUnhealthy(unhealthy, signal),
        pull: () => Promise.resolve(),
        pins: {
          prepare: () => Promise.resolve([]),
          since: () =>
            Promise.resolve({ cursor: { epoch: 'e', version: 0 }, set: [], removed: [] }),
          take: () => Promise.resolve(),
        },
        countConnections: () => Promise.resolve([]),
        trace: (question) =>
          traceConnection(
            { state: gateway.state, unhealthy: gateway.unhealthy, settings: layout },
            question,
          ),
      }),
    },
    signal,
  );
  client = new HttpAgentClient({
    url: server.url,
    name: 'gateway-1',
    secret,
    clock: systemClock,
    limitMs: 5_000,
  });
  stop = async () => {
    await client.close();
    await server.close();
    await store.close();
    await fs.rm(directory, { recursive: true });
  };
});
afterEach(() => stop());

function frontend(last: number): Frontend {
  return makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    destinations: [{ address: parseAddress('10.0.0.1'), port: parsePort(8080), weight: 1 }],
  });
}

function state(generation: number, ...frontends: Frontend[]): string {
  const content = { frontends, policies: [], assignments: [], nodes: [] };
  return [...writeState(content, { generation })].join('');
}

async function post(
  body: string | Buffer,
  change: { headers?: Record<string, string>; path?: string; token?: string; digest?: string } = {},
): Promise<{ status: number; reason: unknown }> {
  const target = change.path ?? '/v2/push';
  const binding = { audience: 'gateway-1', method: 'POST', path: target };
  const token =
    change.token ??
    (await signRequest(secret, binding, change.digest ?? digestOf(body), Date.now()));
  const response = await fetch(new URL(target, server.url), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/jsonl',
      authorization: `Bearer ${token}`,
      ...change.headers,
    },
  });
  const answer = (await response.json()) as { error?: { reason?: string } };
  return { status: response.status, reason: answer.error?.reason };
}

describe('/v2', () => {
  test('accepts an update, compressed or not, and returns the served frontends', async () => {
    const lines = state(1, frontend(1), frontend(2)).split(/(?<=\n)/);
    await expect(client.push(lines, signal)).resolves.toEqual({
      generation: 1,
      committed: true,
      older: [],
      withheld: [],
      errors: [],
    });
    expect(world.services.size).toBe(2);
    const compressed = zstdCompressSync(state(2, frontend(1)));
    const headers = { 'content-encoding': 'zstd' };
    await expect(post(compressed, { headers })).resolves.toMatchObject({ status: 200 });
    expect(world.services.size).toBe(1);
    await expect(client.status(signal)).resolves.toMatchObject({ generation: 2 });
  });

  test('traces a connection', async () => {
    const question = {
      client: parseAddress('198.51.100.1'),
      clientPort: parsePort(40_000),
      address: parseAddress('192.0.2.1'),
      protocol: 'TCP',
      port: parsePort(80),
    } as const;
    expect(await client.trace(question, signal)).toMatchObject({ outcome: 'not-served' });
    const wrong = { ...question, client: 'somebody' as typeof question.client };
    await expect(client.trace(wrong, signal)).rejects.toMatchObject({ code: 'invalid' });
  });

  test("rejects records with addresses that this gateway can't hold, names them and serves the others", async () => {
    const { errors } = await client.push([state(1, frontend(1), frontend(254))], signal);
    expect(errors).toMatchObject([
      {
        frontend: { address: '192.0.2.254' },
        errors: [{ message: "192.0.2.254 is this gateway's own" }],
      },
    ]);
    expect([...world.announced]).toEqual(['192.0.2.1']);
  });

  test('accepts a large update from the client, which compresses it', async () => {
    const lines = state(1, ...Array.from({ length: 60 }, (_, index) => frontend(index + 1)));
    await client.push(lines.split(/(?<=\n)/), signal);
    expect(world.services.size).toBe(60);
  });

  test.each<[string, () => Promise<{ status: number; reason: unknown }>, number, string]>([
    ['a stale generation', () => post(state(1)), 409, 'stale'],
    ['not JSON', () => post('flush ruleset\n'), 400, 'invalid'],
    ['a truncated body', () => post(state(9).slice(0, -30)), 400, 'invalid'],
    ['a line without end', () => post(`"${'x'.repeat(20_000)}`), 413, 'too-large'],
    ['too many lines', () => post('{}\n'.repeat(50_000)), 400, 'invalid'],
    [
      'another content type',
      () => post(state(9), { headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported-media',
    ],
    [
      'another encoding',
      () => post(state(9), { headers: { 'content-encoding': 'br' } }),
      415,
      'unsupported-media',
    ],
    [
      'a body that is not gzip',
      () => post(state(9), { headers: { 'content-encoding': 'gzip' } }),
      400,
      'invalid',
    ],
    [
      'a body that was not signed',
      () => post(state(9), { digest: digestOf('another') }),
      401,
      'unauthorized',
    ],
    ['no token', () => post(state(9), { token: '' }), 401, 'unauthorized'],
    ['a token for another request', () => tokenFor('POST', '/v2/undo'), 401, 'unauthorized'],
    ['an unknown path', () => post('{}', { path: '/v2/flush' }), 404, 'not-found'],
    ['an undo without a reason', () => post('{}', { path: '/v2/undo' }), 400, 'invalid'],
  ])('rejects %s and changes nothing', async (_name, attempt, status, reason) => {
    await client.push([state(1, frontend(1))], signal);
    const before = world.describe();
    await expect(attempt()).resolves.toEqual({ status, reason });
    expect(world.describe()).toBe(before);
    expect(gateway.state.generation).toBe(1);
  });

  async function tokenFor(method: string, target: string) {
    const body = state(9);
    const binding = { audience: 'gateway-1', method, path: target };
    return post(body, { token: await signRequest(secret, binding, digestOf(body), Date.now()) });
  }

  test('rejects a replayed request', async () => {
    const body = state(1, frontend(1));
    const binding = { audience: 'gateway-1', method: 'POST', path: '/v2/push' };
    const token = await signRequest(secret, binding, digestOf(body), Date.now());
    await expect(post(body, { token })).resolves.toMatchObject({ status: 200 });
    await expect(post(body, { token })).resolves.toMatchObject({ status: 401 });
  });

  test('answers a failed apply with the wrong frontends and keeps serving the previous state', async () => {
    await client.push([state(1, frontend(1))], signal);
    world.failures.add('commit');
    await expect(client.push([state(2, frontend(2))], signal)).rejects.toMatchObject({
      status: 500,
      reason: 'apply-failed',
    });
    expect([...world.announced]).toEqual(['192.0.2.1']);
  });

  test("also answers on its Unix socket, which other users can't open", async () => {
    const socketPath = path.join(directory, 'api.sock');
    expect((await fs.stat(socketPath)).mode & 0o777).toBe(0o600);
    const local = new HttpAgentClient({
      url: 'http://localhost',
      socketPath,
      name: 'gateway-1',
      secret,
      clock: systemClock,
      limitMs: 5_000,
    });
    await expect(local.status(signal)).resolves.toMatchObject({ generation: 0 });
    await local.close();
  });

  test('streams its status to subscribers', async () => {
    const first = await client.events(signal).next();
    expect(first.value).toMatchObject({ generation: 0 });
  });
});

describe('/v1', () => {
  const config = {
    ingress: [
      {
        address: '198.51.100.10',
        ports: [
          {
            protocol: 'TCP',
            'inbound-port': 80,
            'destination-addresses': ['10.9.8.7'],
            'destination-port': 8080,
            policy: '',
          },
        ],
      },
    ],
    'network-policies': null,
    'policy-assignments': [],
  };
  const sign = (claim: object, exp = Date.now() / 1000 + 15, by: Uint8Array = v1Secret) =>
    new SignJWT({ 'load-balancer-config': claim, exp: Math.floor(exp) })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(by);
  const apply = async (
    body: string,
    init: { method?: string; type?: string } = {},
  ): Promise<number> => {
    const response = await fetch(`${server.url}/v1/apply`, {
      method: init.method ?? 'POST',
      headers: { 'content-type': init.type ?? 'application/jwt' },
      ...(init.method === 'GET' ? {} : { body }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  test("applies the original controller's request repeatedly", async () => {
    expect(await apply(await sign(config))).toBe(200);
    expect([...world.announced]).toEqual(['198.51.100.10']);
    const { commits } = world;
    expect(await apply(await sign(config))).toBe(200);
    expect(world.commits).toBe(commits);
  });

  test('withholds the removals of an empty request until the controller sends its frontends', async () => {
    await apply(await sign(config));
    expect(await apply(await sign({ ingress: null }))).toBe(200);
    expect(world.services.size).toBe(1);
    expect([...world.announced]).toEqual(['198.51.100.10']);
    expect(withheldIn(gateway.state).size).toBe(1);
    expect(await apply(await sign(config))).toBe(200);
    expect(withheldIn(gateway.state).size).toBe(0);
  });

  test.each<[string, () => Promise<number>, number]>([
    ['another method', () => apply('', { method: 'GET' }), 405],
    ['another content type', () => apply('{}', { type: 'application/json' }), 415],
    ['a body over the size limit', () => apply('x'.repeat(1_048_577)), 413],
    ['an unparsable token', () => apply('nonsense'), 400],
    ['a wrong signature', async () => apply(await sign(config, undefined, secret)), 400],
    ['an expired token', async () => apply(await sign(config, Date.now() / 1000 - 60)), 400],
    ['a bad address', async () => apply(await sign({ ingress: [{ address: 'x; drop' }] })), 400],
    [
      'an injected address',
      async () =>
        apply(
          await sign({ ingress: [{ ...config.ingress[0], address: '10.0.0.1 } flush ruleset' }] }),
        ),
      400,
    ],
  ])('answers %s like the original agent', async (_name, attempt, status) => {
    expect(await attempt()).toBe(status);
    expect(world.services.size).toBe(0);
  });

  test("sets a frontend on the gateway's own address aside and serves the others", async () => {
    const own = { ...config.ingress[0], address: '192.0.2.254' };
    expect(await apply(await sign({ ingress: [own, config.ingress[0]] }))).toBe(200);
    expect([...world.announced]).toEqual(['198.51.100.10']);
    expect(gateway.complaints).toMatchObject([{ frontend: { address: '192.0.2.254' } }]);
  });

  test('answers 500 when the apply fails, and rolls back', async () => {
    await apply(await sign(config));
    const before = world.describe();
    world.failures.add('commit');
    const other = { ...config.ingress[0], address: '198.51.100.11' };
    expect(await apply(await sign({ ingress: [other] }))).toBe(500);
    expect(world.describe()).toBe(before);
  });

  test('rejects a token that is older than the last one', async () => {
    const late = await sign({ ingress: null }, Date.now() / 1000 + 10);
    await apply(await sign(config));
    expect(await apply(late)).toBe(400);
    expect(world.services.size).toBe(1);
  });
});
