import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from 'undici';
import type { Operation } from '../../../packages/causeway/src/ipam/api/operation.ts';
import {
  operations,
  type OperationName,
} from '../../../packages/causeway/src/ipam/api/operations.ts';
import { never, startServer, type ServerUnderTest } from './server-under-test.ts';

let server: ServerUnderTest;
/** Every kind of wrong credential, by its defect, and the right ones to compare with. */
const tokens = new Map<string, string | undefined>();

/** The valid body of each call. All refer to cluster `blue` of site `edge`. */
const bodies: Partial<Record<OperationName, object>> = {
  setSite: { keepMs: 1 },
  suspendSite: { as: 'recovering' },
  resumeSite: {},
  setPool: { addresses: ['192.0.2.0/24'] },
  drainPool: { drained: false },
  createCluster: { cluster: 'blue' },
  configureCluster: { quota: 50 },
  reclaimCluster: {},
  reserve: { uid: 'u' },
  ensureLoadBalancer: {},
  updateLoadBalancer: { fencingToken: 1 },
  issueClusterCredential: {},
  issueOperatorCredential: {},
  rotateCredential: {},
  heartbeat: {},
};
const params: Record<string, string> = {
  site: 'edge',
  cluster: 'blue',
  pool: 'public',
  uid: 'u',
  address: '192.0.2.7',
  id: 'nobody',
};
const mutating = ({ method }: Operation) => method !== 'GET';

beforeAll(async () => {
  const strangerLimit = { perSecond: 1, burst: 500 };
  server = await startServer({ strangerLimit, sweepEveryMs: 3_600_000 });
  const { operator } = server;
  const call = operator.call.bind(operator);
  for (const site of ['edge', 'other']) {
    await call('setSite', { params: { site }, body: {} }, never);
    const body = { addresses: ['192.0.2.0/24'] };
    await call('setPool', { params: { site, pool: 'public' }, body }, never);
  }
  const create = async (site: string, cluster: string) =>
    (await call('createCluster', { params: { site }, body: { cluster } }, never)).token;
  tokens.set('nothing', undefined);
  tokens.set('nonsense', 'Bearer of nonsense');
  tokens.set('an unknown token', `cwy_${'a'.repeat(16)}_${'b'.repeat(43)}`);
  tokens.set('another cluster of the site', await create('edge', 'green'));
  tokens.set('a cluster of the same name elsewhere', await create('other', 'blue'));
  const blue = await create('edge', 'blue');
  tokens.set('the right id with another secret', `${blue.slice(0, 21)}${'c'.repeat(43)}`);
  tokens.set('the right token with a suffix', `${blue}x`);
  await server.client(blue).call('heartbeat', { params: { site: 'edge', cluster: 'blue' } }, never);
  const issue = async (lifetimeMs?: number) =>
    call(
      'issueClusterCredential',
      { params: { site: 'edge', cluster: 'blue' }, body: { lifetimeMs } },
      never,
    );
  const revoked = await issue();
  await call('revokeCredential', { params: { id: revoked.credential.id } }, never);
  tokens.set('a revoked token', revoked.token);
  tokens.set('an expired token', (await issue(0)).token);
  const formerly = await create('edge', 'former');
  await call('removeCluster', { params: { site: 'edge', cluster: 'former' } }, never);
  await create('edge', 'former');
  tokens.set('a token of a removed cluster', formerly);
  const operatorRevoked = await call('issueOperatorCredential', { params: {}, body: {} }, never);
  await call('revokeCredential', { params: { id: operatorRevoked.credential.id } }, never);
  tokens.set('a revoked operator', operatorRevoked.token);
  tokens.set('the cluster itself', blue);
});
afterAll(() => server.stop());

async function send(name: OperationName, token: string | undefined, body = bodies[name]) {
  const operation: Operation = operations[name];
  const path = operation.path.replaceAll(
    /\{(\w+)\}/g,
    (_match, part: string) => params[part] ?? '',
  );
  const takesBody = operation.method !== 'GET' && operation.method !== 'DELETE';
  const answer = await request(new URL(path, server.replica.url), {
    method: operation.method,
    headers: {
      ...(takesBody ? { 'content-type': 'application/json' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: takesBody ? JSON.stringify(body ?? {}) : null,
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

/** Everything in the ledger, to check that a rejected call changed nothing. */
const everything = async () =>
  JSON.stringify((await server.replica.allocator.ledger.load('', never)).entries);

const wrongKinds = [
  ['nothing', 401],
  ['nonsense', 401],
  ['an unknown token', 401],
  ['the right id with another secret', 401],
  ['the right token with a suffix', 401],
  ['a revoked token', 401],
  ['an expired token', 401],
  ['a token of a removed cluster', 401],
  ['a revoked operator', 401],
  ['another cluster of the site', 403],
  ['a cluster of the same name elsewhere', 403],
] as const;

describe.each(Object.keys(operations))('%s', (key) => {
  const name = key as OperationName;

  test.each(wrongKinds)('with %s is rejected and changes nothing', async (kind, expected) => {
    const before = await everything();
    const { status, text } = await send(name, tokens.get(kind));
    if (name === 'whoHas' && kind === 'another cluster of the site') {
      expect(status).toBe(200);
      expect(text).not.toContain('blue');
      return;
    }
    expect(status).toBe(expected);
    expect(text).not.toContain('hash');
    expect(await everything()).toBe(before);
  });
});

const ofOperators = Object.entries<Operation>(operations)
  .filter(([, { access }]) => access === 'operator')
  .map(([name]) => name as OperationName);

test.each(ofOperators)('%s with a cluster’s credential is rejected', async (name) => {
  const before = await everything();
  expect((await send(name, tokens.get('the cluster itself'))).status).toBe(403);
  expect(await everything()).toBe(before);
});

test('the table of calls covers every call with a change', () => {
  const missing = Object.entries<Operation>(operations)
    .filter(
      ([name, operation]) =>
        mutating(operation) && operation.method !== 'DELETE' && !(name in bodies),
    )
    .map(([name]) => name);
  expect(missing).toEqual([]);
});

test('a body that names another cluster changes nothing: the credential decides', async () => {
  const body = { uid: 'other', site: 'other', cluster: 'green', role: 'operator', owner: 'x' };
  const { status, text } = await send('reserve', tokens.get('the cluster itself'), body);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ reservation: { site: 'edge', cluster: 'blue' } });
  const green = server.replica.allocator.view.site('edge')?.clusters.get('green')?.record;
  expect(server.replica.allocator.view.site('edge')?.heldBy(green?.epoch ?? '').size).toBe(0);
});

test("a cluster can't reserve a control plane address", async () => {
  const demand = { uid: 'greedy', purpose: 'control-plane' };
  const { status } = await send('reserve', tokens.get('the cluster itself'), demand);
  expect(status).toBe(403);
});

test('clients without a valid credential are slowed down', async () => {
  const statuses = [];
  for (let index = 0; index < 600; index += 1)
    statuses.push((await send('listSites', 'nonsense')).status);
  expect(statuses.at(-1)).toBe(429);
});
