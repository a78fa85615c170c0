import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IpamClient } from '../packages/causeway/src/ipam/api/client.ts';
import { EtcdClient } from '../packages/causeway/src/ipam/etcd/etcd-client.ts';
import {
  decodeTransactionResponse,
  encodeTransaction,
} from '../packages/causeway/src/ipam/etcd/messages.ts';
import { EtcdLedger } from '../packages/causeway/src/ipam/etcd-ledger.ts';
import { createOperator } from '../packages/causeway/src/ipam/init.ts';
import type { Ledger, Transaction } from '../packages/causeway/src/ipam/ledger.ts';
import { SqliteLedger } from '../packages/causeway/src/ipam/sqlite-ledger.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { startEtcdCluster } from '../test/services/etcd-cluster.ts';
import { startIpamServer } from '../test/services/ipam-server.ts';
import { compare, type Bar, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import {
  bareTransaction,
  never,
  prepareSite,
  rateOf,
  reserveInProcess,
  reserveOverHttp,
  runAllocator,
  spiedOn,
} from './ipam-load.ts';

const repeats = 5;
const roundMs = 1_500;
const atLeast = (limit: number): Bar => ({
  of: 'ratio',
  comparison: 'at least',
  limit,
  unit: 'allocations/s',
});

type Figure =
  | 'ipam-etcd-in-process'
  | 'ipam-etcd-http'
  | 'ipam-sqlite-in-process'
  | 'ipam-sqlite-http';

/**
 * Reservations per second from 64 clusters, compared with bare transactions of the same size on the same
 * ledger.
 */
export const suite: BenchmarkSuite<Figure> = {
  name: 'ipam',
  bars: {
    'ipam-etcd-in-process': atLeast(0.5),
    'ipam-etcd-http': atLeast(0.3),
    'ipam-sqlite-in-process': atLeast(0.5),
    'ipam-sqlite-http': atLeast(0.3),
  },
  async run() {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-bench-ipam-'));
    try {
      const etcd = await onEtcd(directory);
      const sqlite = await onSqlite(directory);
      return {
        'ipam-etcd-in-process': etcd.inProcess,
        'ipam-etcd-http': etcd.http,
        'ipam-sqlite-in-process': sqlite.inProcess,
        'ipam-sqlite-http': sqlite.http,
      };
    } finally {
      await fs.rm(directory, { recursive: true });
    }
  },
};

interface Figures {
  readonly inProcess: Measurement;
  readonly http: Measurement;
}

/** etcd with its disk as in production; the server is its own process, the callers are in this one. */
async function onEtcd(directory: string): Promise<Figures> {
  const etcd = await startEtcdCluster({ members: 1, fsync: true });
  const root = '/causeway/ipam/';
  const ledger = new EtcdLedger({ endpoints: etcd.endpoints, root, clock: systemClock });
  const client = new EtcdClient({ endpoints: etcd.endpoints, clock: systemClock });
  try {
    const token = await createOperator(ledger, 'bench', Date.now(), never);
    const bareRate = () => bareRateOn(client);
    const inProcess = await measureInProcess(ledger, bareRate);
    const endpoints = etcd.endpoints.join(',');
    const server = await startIpamServer(directory, 'etcd', ['--ledger', `etcd:${endpoints}`]);
    try {
      return { inProcess, http: await measureHttp(server.url, token, bareRate) };
    } finally {
      await server.process.stop();
    }
  } finally {
    client.close();
    await ledger.close();
    await etcd.stop();
  }
}

/** Bare commits: SQLite's own, each transaction on the disk before the next begins, in this process. */
async function onSqlite(directory: string): Promise<Figures> {
  const bare = openBareDatabase(path.join(directory, 'bare.db'));
  const served = path.join(directory, 'served.db');
  const ledger = await SqliteLedger.open(served);
  const token = await createOperator(ledger, 'bench', Date.now(), never);
  const inProcess = await measureInProcess(ledger, bare.rate);
  await ledger.close();
  const server = await startIpamServer(directory, 'sqlite', ['--ledger', `sqlite:${served}`]);
  try {
    return { inProcess, http: await measureHttp(server.url, token, bare.rate) };
  } finally {
    await server.process.stop();
    bare.close();
  }
}

function openBareDatabase(file: string): {
  readonly rate: () => Promise<number>;
  readonly close: () => void;
} {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT, revision INTEGER) WITHOUT ROWID, STRICT;
  `);
  const select = database.prepare('SELECT revision FROM entries WHERE key = ?');
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?)');
  const commit = () => {
    const { conditions, writes } = bareTransaction(seen(), (bareCount += 1));
    database.exec('BEGIN IMMEDIATE');
    for (const { key } of conditions) select.get(key);
    for (const { key, value } of writes) insert.run(key, value ?? '', bareCount);
    database.exec('COMMIT');
    return Promise.resolve();
  };
  return { rate: () => rateOf(roundMs, commit, 1), close: () => database.close() };
}

let sample: Transaction | undefined;
let bareCount = 0;

function seen(): Transaction {
  if (sample === undefined) throw new Error('no transaction was seen');
  return sample;
}

/** Bare transactions on etcd, from as many callers as there are clusters, each a separate transaction. */
function bareRateOn(client: EtcdClient): Promise<number> {
  return rateOf(roundMs, async () => {
    const message = encodeTransaction(bareTransaction(seen(), (bareCount += 1)));
    const answer = await client.call('/etcdserverpb.KV/Txn', message, never);
    if (!decodeTransactionResponse(answer).applied) throw new Error('refused');
  });
}

async function measureInProcess(
  ledger: Ledger,
  bareRate: () => Promise<number>,
): Promise<Measurement> {
  const spied = spiedOn(ledger);
  const running = await runAllocator(spied.ledger);
  const { allocator } = running;
  await prepareSite(allocator);
  await reserveInProcess(allocator, 0);
  sample = spied.last();
  const measured = await compare(
    repeats,
    () => rateOf(roundMs, (caller) => reserveInProcess(allocator, caller)),
    bareRate,
  );
  await running.stop();
  return measured;
}

async function measureHttp(
  url: string,
  token: string,
  bareRate: () => Promise<number>,
): Promise<Measurement> {
  const client = new IpamClient({
    urls: [url],
    token: () => Promise.resolve(token),
    clock: systemClock,
  });
  await rateOf(500, (caller) => reserveOverHttp(client, caller));
  const measured = await compare(
    repeats,
    () => rateOf(roundMs, (caller) => reserveOverHttp(client, caller)),
    bareRate,
  );
  await client.close();
  return measured;
}
