import path from 'node:path';
import { IpamClient } from '../../packages/causeway/src/ipam/api/client.ts';
import { createOperator } from '../../packages/causeway/src/ipam/init.ts';
import { openLedger } from '../../packages/causeway/src/ipam/open-ledger.ts';
import { ipamServerSettings } from '../../packages/causeway/src/ipam/settings.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { startEtcdCluster, type EtcdCluster } from '../services/etcd-cluster.ts';
import { freePorts } from '../services/free-port.ts';
import { persist } from './doings.ts';
import { JobDirectory } from './job-unit.ts';
import { mountSmallDisk, unmountSmallDisk } from './small-disk.ts';
import type { Unit } from './unit.ts';

const { signal } = new AbortController();
export const site = 'site';
/** The cluster of the controllers, in the ledger. */
export const clusterName = 'chaos';
/** Another cluster; its only Services are what the user reserves. */
export const otherCluster = 'other';

/** The shared allocator: one server on a small disk, or two on three members of etcd. */
export interface LedgerServers {
  readonly urls: readonly string[];
  readonly units: readonly Unit[];
  readonly etcd: EtcdCluster | undefined;
  /** Directory of the file ledger. */
  readonly disk: string;
  readonly operator: IpamClient;
  readonly other: IpamClient;
  readonly clusterToken: string;
  stop(): Promise<void>;
}

export async function startLedger(
  on: 'embedded' | 'real',
  directory: string,
): Promise<LedgerServers> {
  const disk = path.join(directory, 'ledger');
  await mountSmallDisk(disk);
  const etcd = on === 'real' ? await startEtcdCluster({ members: 3 }) : undefined;
  const ledgerUrl =
    etcd === undefined ? `sqlite:${disk}/ipam.db` : `etcd:${etcd.endpoints.join(',')}`;
  const units: Unit[] = [];
  const urls: string[] = [];
  for (const name of etcd === undefined ? ['ipam-1'] : ['ipam-1', 'ipam-2']) {
    const [port = 0, health = 0] = await freePorts(2);
    const own = new JobDirectory(directory, name);
    const config = await own.write('ipam.yaml', {
      ledger: ledgerUrl,
      listen: { port },
      metrics: { port: health },
      log: { format: 'text' },
    });
    units.push(own.unit(['ipam', 'serve', '--config', config]));
    urls.push(`http://127.0.0.1:${port}`);
  }
  const token = await makeOperator(ledgerUrl);
  for (const unit of units) unit.start();
  const clientOf = (secret: string) =>
    new IpamClient({ urls, token: () => Promise.resolve(secret), clock: systemClock });
  const operator = clientOf(token);
  const create = await fillLedger(operator);
  const clusterToken = await create(clusterName);
  const other = clientOf(await create(otherCluster));
  const stop = async () => {
    for (const unit of units) await unit.end();
    await operator.close();
    await other.close();
    await etcd?.stop();
    await unmountSmallDisk(disk);
  };
  return { urls, units, etcd, disk, operator, other, clusterToken, stop };
}

async function makeOperator(ledgerUrl: string): Promise<string> {
  const ledger = await openLedger(ipamServerSettings.parse({ ledger: ledgerUrl }), systemClock);
  try {
    return await createOperator(ledger, 'chaos', Date.now(), signal);
  } finally {
    await ledger.close();
  }
}

/** Creates a site with one pool that is large enough. Returns a function that registers clusters in it. */
async function fillLedger(operator: IpamClient): Promise<(name: string) => Promise<string>> {
  const times = { quarantineMs: 1_000, unconfirmedQuarantineMs: 5_000 };
  await persist(() => operator.call('setSite', { params: { site }, body: times }, signal));
  const pool = { params: { site, pool: 'public' }, body: { addresses: ['192.0.2.0/26'] } };
  await operator.call('setPool', pool, signal);
  return async (cluster) =>
    (await operator.call('createCluster', { params: { site }, body: { cluster } }, signal)).token;
}
