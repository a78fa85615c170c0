import path from 'node:path';
import { podNetwork, podNetwork6 } from '../services/real-cluster/layout.ts';
import type { RealCluster } from '../services/real-cluster/real-cluster.ts';
import { logTail } from '../services/service-process.ts';
import { HopelessError, waitFor } from '../services/wait-for.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);

/** Causeway's proxy in place of kube-proxy on every node. */
export async function startNodeProxies(cluster: RealCluster): Promise<void> {
  await Promise.all(
    cluster.nodes.map(async ({ name, machine }) => {
      const log = `${name}-causeway-proxy`;
      const proxy = machine.start(log, process.execPath, [
        ...[main, 'proxy', '--services', 'all', '--kubeconfig', cluster.kubeconfig],
        ...['--node-name', name, '--insiders-networks', `${podNetwork},${podNetwork6}`],
        ...['--conntrack-max-per-core', '0', '--conntrack-min', '0'],
      ]);
      await waitFor(`the proxy of ${name}`, async () => {
        if (!proxy.isRunning()) throw new HopelessError(logTail(cluster.files.log(log)));
        const health = ['-sSf', '--max-time', '5', 'http://127.0.0.1:10256/healthz'];
        return (await machine.attempt('curl', health)).code === 0;
      });
    }),
  );
}
