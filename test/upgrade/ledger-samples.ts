import fs from 'node:fs/promises';
import path from 'node:path';
import { IpamClient } from '../../packages/causeway/src/ipam/api/client.ts';
import {
  backupSchema,
  restoreBackup,
  takeBackup,
} from '../../packages/causeway/src/ipam/backup.ts';
import { isKnown, presentToken } from '../../packages/causeway/src/ipam/credential.ts';
import { createOperator } from '../../packages/causeway/src/ipam/init.ts';
import { stateRoot } from '../../packages/causeway/src/ipam/keys.ts';
import type { Entry, Ledger } from '../../packages/causeway/src/ipam/ledger.ts';
import { startReplica } from '../../packages/causeway/src/ipam/replica.ts';
import { SqliteLedger } from '../../packages/causeway/src/ipam/sqlite-ledger.ts';
import { View } from '../../packages/causeway/src/ipam/view.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import { MemoryLedger } from '../doubles/memory-ledger.ts';
import { plain, sampleTime, type SampleKind } from './sample-kind.ts';

const { signal } = new AbortController();
const database = 'ipam.db';

/** A ledger that was in use: a site, pools, clusters, reservations, quarantines and queued requests. */
async function useLedger(file: string): Promise<{ entries: readonly Entry[]; tokens: string[] }> {
  const ledger = await SqliteLedger.open(file);
  const operator = await createOperator(ledger, 'sample', sampleTime, signal);
  const replica = await startReplica({
    ledger,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    signal,
    host: '127.0.0.1',
    port: 0,
    rateLimit: { perSecond: 1000, burst: 1000 },
    auditRetentionMs: 86_400_000,
  });
  const token = () => Promise.resolve(operator);
  const client = new IpamClient({ urls: [replica.url], token, clock: systemClock });
  const call: IpamClient['call'] = (name, input) => client.call(name, input, signal);
  const site = 'edge';
  const params = { site, cluster: 'blue' };
  await call('setSite', { params: { site }, body: { defaultQuota: 9, keepMs: 1000 } }, signal);
  const pools = { first: ['192.0.2.10-192.0.2.12'], six: ['2001:db8::/120'] };
  for (const [pool, addresses] of Object.entries(pools)) {
    await call('setPool', { params: { site, pool }, body: { addresses, priority: 1 } }, signal);
  }
  const made = await call('createCluster', { params: { site }, body: { cluster: 'blue' } }, signal);
  const owner = (uid: string) => ({ uid, namespace: 'shop', name: uid, families: [4 as const] });
  for (const uid of ['web', 'api', 'gone']) {
    await call('reserve', { params, body: { ...owner(uid), ports: ['TCP/80'] } }, signal);
  }
  await call('free', { params: { ...params, uid: 'gone' } }, signal);
  await call('heartbeat', { params, body: {} }, signal);
  const { entries } = await ledger.load(stateRoot, signal);
  await client.close();
  await replica.stop();
  return { entries, tokens: [operator, made.token] };
}

async function meaningOf(ledger: Ledger, tokens: readonly string[]): Promise<unknown> {
  const { entries } = await ledger.load(stateRoot, signal);
  const view = new View();
  view.fill(entries);
  return plain({
    keys: entries.map(({ key }) => key).sort(),
    sites: view.sites.map((site) => ({
      site: site.site?.record,
      clusters: [...site.clusters.values()].map(({ record }) => record),
    })),
    known: tokens.map((token) => {
      const presented = presentToken(token);
      return presented !== undefined && isKnown(view, presented, sampleTime);
    }),
  });
}

const readTokens = async (directory: string) =>
  JSON.parse(await fs.readFile(path.join(directory, 'tokens.json'), 'utf8')) as string[];

export const sqliteLedger: SampleKind = {
  name: 'ledger-sqlite',

  async write(directory) {
    const { tokens } = await useLedger(path.join(directory, database));
    await fs.writeFile(path.join(directory, 'tokens.json'), JSON.stringify(tokens));
  },

  async read(directory) {
    const ledger = await SqliteLedger.open(path.join(directory, database));
    try {
      const meaning = await meaningOf(ledger, await readTokens(directory));
      // The ledger stays in use.
      const writes = [{ key: 'state/later/x', value: '{}' }];
      const { applied } = await ledger.commit({ conditions: [], writes }, signal);
      return { meaning, applied };
    } finally {
      await ledger.close();
    }
  },
};

/** In etcd the same records are under the same keys; a backup has them, too. */
export const etcdLedger: SampleKind = {
  name: 'ledger-etcd',

  async write(directory) {
    const { entries, tokens } = await useLedger(path.join(directory, database));
    const memory = new MemoryLedger();
    const writes = entries.map(({ key, value }) => ({ key, value }));
    await memory.commit({ conditions: [], writes }, signal);
    const backup = await takeBackup(memory, sampleTime, signal);
    await fs.rm(path.join(directory, database), { force: true });
    const save = (name: string, value: unknown) =>
      fs.writeFile(path.join(directory, name), `${JSON.stringify(value, undefined, 2)}\n`);
    await save('entries.json', writes);
    await save('tokens.json', tokens);
    await save('backup.json', backup);
  },

  async read(directory) {
    const read = async (name: string) =>
      JSON.parse(await fs.readFile(path.join(directory, name), 'utf8')) as unknown;
    const tokens = await readTokens(directory);
    const present = new MemoryLedger();
    const writes = (await read('entries.json')) as { key: string; value: string }[];
    await present.commit({ conditions: [], writes }, signal);
    const restored = new MemoryLedger();
    const backup = backupSchema.parse(await read('backup.json'));
    await restoreBackup(restored, backup, 'move', sampleTime, signal);
    return {
      present: await meaningOf(present, tokens),
      restored: await meaningOf(restored, tokens),
    };
  },
};
