import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { EtcdLedger } from '../../../packages/causeway/src/ipam/etcd-ledger.ts';
import { createOperator } from '../../../packages/causeway/src/ipam/init.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { startEtcdCluster, type EtcdCluster } from '../../services/etcd-cluster.ts';
import { startIpamServer, type IpamServer } from '../../services/ipam-server.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { startTcpProxy, type TcpProxy } from '../../services/tcp-proxy.ts';
import { clientOf } from './history.ts';
import { never } from './server-under-test.ts';

/** Several servers, as processes, on an etcd of three members, over connections that can be cut. */
export interface Fleet {
  readonly etcd: EtcdCluster;
  readonly lines: readonly TcpProxy[];
  readonly servers: readonly IpamServer[];
  readonly token: string;
  /** One for each server, with an operator's credential. */
  readonly clients: readonly IpamClient[];
  stop(): Promise<void>;
}

export async function startFleet(size: number): Promise<Fleet> {
  const directory = await scratchDirectory('fleet');
  const etcd = await startEtcdCluster({ members: 3 });
  const lines = await Promise.all(
    etcd.endpoints.map((endpoint) => startTcpProxy(Number(new URL(endpoint).port))),
  );
  const ledger = new EtcdLedger({
    endpoints: etcd.endpoints,
    root: '/causeway/ipam/',
    clock: systemClock,
  });
  const token = await createOperator(ledger, 'test', Date.now(), never);
  await ledger.close();
  const servers: IpamServer[] = [];
  for (let index = 0; index < size; index += 1) {
    // Each server prefers another member.
    const order = [...lines.slice(index % 3), ...lines.slice(0, index % 3)];
    const urls = order.map(({ port }) => `http://127.0.0.1:${port}`).join(',');
    servers.push(await startIpamServer(directory, `server-${index}`, ['--ledger', `etcd:${urls}`]));
  }
  const clients = servers.map(({ url }) => clientOf(url, token));
  return {
    etcd,
    lines,
    servers,
    token,
    clients,
    async stop() {
      await Promise.all(clients.map((client) => client.close()));
      for (const { process } of servers) process.kill('SIGKILL');
      await Promise.all(servers.map(({ process }) => process.exited));
      await Promise.all(lines.map((line) => line.close()));
      await etcd.stop();
      await removeDirectory(directory);
    },
  };
}

/** A site without quarantine, and clusters with quotas. */
export async function prepareSite(
  client: IpamClient,
  site: string,
  addresses: string,
  quotas: Readonly<Record<string, number>>,
): Promise<void> {
  const noRest = { quarantineMs: 0, keepMs: 0 };
  await client.call('setSite', { params: { site }, body: noRest }, never);
  await client.call(
    'setPool',
    { params: { site, pool: 'p' }, body: { addresses: [addresses] } },
    never,
  );
  for (const [cluster, quota] of Object.entries(quotas)) {
    await client.call('createCluster', { params: { site }, body: { cluster, quota } }, never);
  }
}
