import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import type { TlsFiles } from '../../../packages/causeway/src/ipam/etcd/grpc-connection.ts';
import { EtcdLedger } from '../../../packages/causeway/src/ipam/etcd-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { startEtcdCluster, type EtcdCluster } from '../../services/etcd-cluster.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { startTcpProxy } from '../../services/tcp-proxy.ts';
import { waitFor } from '../../services/wait-for.ts';
import { describeLedger } from './ledger-contract.ts';

const never = new AbortController().signal;
const available = await isAvailable(() => ensureProgram('etcd'));
let roots = 0;
const newRoot = () => `/test-${(roots += 1)}/`;
const write = (key: string, value = 'x') => ({ conditions: [], writes: [{ key, value }] });

describe.skipIf(!available)('on one etcd with TLS and users', () => {
  let etcd: EtcdCluster;
  const user = { name: 'causeway', password: 'secret' };
  beforeAll(async () => {
    etcd = await startEtcdCluster({ members: 1, tls: true });
    const rights = { permType: 'READWRITE', key: 'Lw==', range_end: 'MA==' };
    for (const [path, body] of [
      ['auth/user/add', { name: 'root', password: 'root' }],
      ['auth/role/add', { name: 'root' }],
      ['auth/user/grant', { user: 'root', role: 'root' }],
      ['auth/user/add', user],
      ['auth/role/add', { name: 'ledger' }],
      ['auth/role/grant', { name: 'ledger', perm: rights }],
      ['auth/user/grant', { user: user.name, role: 'ledger' }],
      ['auth/enable', {}],
    ] as const) {
      await etcd.call(0, path, body);
    }
  });
  afterAll(() => etcd.stop());
  const open = (more: object = {}) =>
    new EtcdLedger({
      endpoints: etcd.endpoints,
      tls: () => Promise.resolve(etcd.tls ?? {}),
      user,
      clock: systemClock,
      root: newRoot(),
      ...more,
    });

  describeLedger('etcd', () => {
    const ledger = open();
    return Promise.resolve({ ledger, close: () => ledger.close() });
  });

  test('reports that a watch is established without any change', async () => {
    const ledger = open();
    const revision = await ledger.barrier(never);
    const ended = AbortSignal.timeout(10_000);
    const watch = ledger.watch('state/', revision, ended)[Symbol.asyncIterator]();
    expect((await watch.next()).value).toEqual({ revision, changes: [] });
    await watch.return?.();
    await ledger.close();
  });

  test('reports a wrong password', async () => {
    const ledger = open({ user: { ...user, password: 'wrong' } });
    await expect(ledger.barrier(never)).rejects.toMatchObject({ code: 'invalid' });
    await ledger.close();
  });

  test('is rejected without a certificate', async () => {
    const ledger = open({ tls: () => Promise.resolve({ ca: etcd.tls?.ca }) });
    await expect(ledger.barrier(never)).rejects.toMatchObject({ code: 'unavailable' });
    await ledger.close();
  });

  test('uses renewed certificates for the next connection, without a restart', async () => {
    let files: TlsFiles = { ca: etcd.tls?.ca };
    const ledger = open({ tls: () => Promise.resolve(files) });
    await expect(ledger.barrier(never)).rejects.toMatchObject({ code: 'unavailable' });
    files = etcd.tls ?? {};
    expect(await waitFor('an answer', () => ledger.barrier(never))).toBeGreaterThan(0);
    await ledger.close();
  });

  test('waits while certificates are temporarily unreadable', async () => {
    let canRead = false;
    const ledger = open({
      tls: () =>
        canRead
          ? Promise.resolve(etcd.tls ?? {})
          : Promise.reject(new CausewayError('unavailable', 'the file is being replaced')),
    });
    await expect(ledger.barrier(never)).rejects.toMatchObject({ code: 'unavailable' });
    canRead = true;
    expect(await ledger.barrier(never)).toBeGreaterThan(0);
    await ledger.close();
  });

  test('loads more than a page at one revision', async () => {
    const ledger = open();
    for (let batch = 0; batch < 50; batch += 1) {
      const writes = Array.from({ length: 100 }, (_, index) => ({
        key: `state/${batch}-${index}`,
        value: 'x',
      }));
      await ledger.commit({ conditions: [], writes }, never);
    }
    const { entries, revision } = await ledger.load('state/', never);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(5_000);
    expect(revision).toBe(await ledger.barrier(never));
    await ledger.close();
  });
});

describe.skipIf(!available)('on three etcd members', () => {
  let etcd: EtcdCluster;
  beforeAll(async () => {
    etcd = await startEtcdCluster({ members: 3 });
  });
  afterAll(() => etcd.stop());
  const open = (endpoints = etcd.endpoints, more: { callLimitMs?: number } = {}) =>
    new EtcdLedger({
      endpoints,
      clock: systemClock,
      root: newRoot(),
      callLimitMs: 30_000,
      ...more,
    });
  const eventually = (ledger: EtcdLedger, key: string) =>
    waitFor(`a commit of ${key}`, async () => (await ledger.commit(write(key), never)).applied);

  describeLedger('etcd cluster', () => {
    const ledger = open();
    return Promise.resolve({ ledger, close: () => ledger.close() });
  });

  test('continues with another member when its member ends or stops answering', async () => {
    const ledger = open(etcd.endpoints, { callLimitMs: 1_000 });
    await eventually(ledger, 'state/a');
    etcd.signal(0, 'SIGKILL');
    await eventually(ledger, 'state/b');
    await etcd.restart(0);
    for (const member of [0, 1, 2]) {
      etcd.signal(member, 'SIGSTOP');
      await eventually(ledger, `state/stopped-${member}`);
      etcd.signal(member, 'SIGCONT');
    }
    const { entries } = await waitFor('an answer', () => ledger.load('state/', never));
    expect(entries).toHaveLength(5);
    await ledger.close();
  });

  test('continues while the leader changes', async () => {
    const ledger = open();
    for (const member of [0, 1, 2]) {
      await eventually(ledger, `state/before-${member}`);
      await etcd.moveLeader(member).catch(() => undefined);
      await eventually(ledger, `state/after-${member}`);
    }
    await ledger.close();
  });

  test('sends a call once: a cut connection is an error, and the caller decides about a repeat', async () => {
    const proxy = await startTcpProxy(Number(new URL(etcd.endpoints[0] ?? '').port));
    const ledger = open([`http://127.0.0.1:${proxy.port}`]);
    await ledger.commit(write('state/a'), never);
    const commits = Array.from({ length: 20 }, (_, index) =>
      ledger.commit(write(`state/${index}`), never),
    );
    proxy.cut();
    const results = await Promise.allSettled(commits);
    expect(results.some(({ status }) => status === 'rejected')).toBe(true);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'unavailable' });
    }
    await eventually(ledger, 'state/after');
    await ledger.close();
    await proxy.close();
  });

  test('a watch from before a compaction ends with gone', async () => {
    const ledger = open();
    const { revision } = await ledger.commit(write('state/a'), never);
    await ledger.commit(write('state/a', 'y'), never);
    await ledger.commit(write('state/a', 'z'), never);
    await etcd.compact();
    const watch = ledger.watch('state/', revision, never)[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toMatchObject({ code: 'gone' });
    await ledger.close();
  });
});
