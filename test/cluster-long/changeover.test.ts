import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webDeployment, webService } from '../cluster/real/workloads.ts';
import { ensureProductImage } from '../services/image/product-image.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import type { ClusterNode } from '../services/real-cluster/cluster-node.ts';
import {
  chart,
  Installation,
  proxyValues,
  removeOurRules,
} from '../services/real-cluster/installation.ts';
import { prepareRealCluster, RealCluster } from '../services/real-cluster/real-cluster.ts';
import { addRoutedClient } from '../services/real-cluster/routed-client.ts';
import { Traffic } from '../services/real-cluster/traffic.ts';

const isRunnable =
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

const nodePort = 30_080;

/**
 * The tests run in order: each continues from the state of the previous one. The steps are those of
 * docs/proxy.md. All the time a pod on every node and a client outside open a connection every 20 ms, and
 * keep downloads open.
 */
describe.skipIf(!isRunnable).each(['nftables', 'iptables'] as const)(
  "from kube-proxy in its %s mode to Causeway's proxy and back",
  (mode) => {
    let cluster: RealCluster;
    let installation: Installation;
    let traffic: Traffic;
    beforeAll(async () => {
      const { archive } = await ensureProductImage();
      cluster = await RealCluster.start({ kubeProxy: mode, images: [archive] });
      installation = await Installation.prepare(cluster);
      const ports = [{ port: 80, targetPort: 'http', nodePort }];
      await cluster.apply(webDeployment('web', 3), webService('web', { type: 'NodePort', ports }));
      await installation.rollOut('deployment/web');
      traffic = await startTraffic(cluster);
    });
    afterAll(async () => {
      if (traffic !== undefined) process.stderr.write(`${mode}: ${await traffic.summary()}\n`);
      await cluster?.stop();
    });

    const rulesOn = ({ machine }: ClusterNode) => machine.run('nft', 'list', 'tables');
    const namesOf = async ({ machine }: ClusterNode) => {
      const rules = await machine.run('nft', '-a', 'list', 'ruleset');
      return rules.match(/KUBE-[A-Z]+-?[A-Z]*|kube-proxy|causeway/g) ?? [];
    };

    test('kube-proxy serves all clients', async () => {
      await traffic.untilFlowing();
      expect(await traffic.losses()).toEqual([]);
    });

    test("Causeway's proxy starts beside it, on every node, for all Services", async () => {
      await installation.helmWith({ proxy: proxyValues }, 'install', 'causeway', chart);
      await installation.rollOut('daemonset/causeway-proxy', 'causeway-node');
      await traffic.untilFlowing();
      for (const node of cluster.nodes) expect(await rulesOn(node)).toContain('causeway');
      expect(await traffic.losses()).toEqual([]);
    });

    test('kube-proxy is removed with all of its rules', async () => {
      for (const node of cluster.nodes) {
        await node.removeKubeProxy();
        expect(await namesOf(node)).not.toContain('kube-proxy');
        // In its iptables mode it intentionally leaves one chain, which the kubelet shares.
        const left = (await namesOf(node)).filter((name) => name.startsWith('KUBE-'));
        expect(left.filter((name) => name !== 'KUBE-FIREWALL')).toEqual([]);
      }
      await traffic.untilFlowing();
      expect(await traffic.losses()).toEqual([]);
    });

    test("kube-proxy returns beside Causeway's proxy", async () => {
      for (const node of cluster.nodes) await node.startKubeProxy(mode);
      for (const node of cluster.nodes) {
        const theirs = mode === 'nftables' ? 'kube-proxy' : 'KUBE-SVC';
        await expect.poll(() => namesOf(node)).toContainEqual(expect.stringContaining(theirs));
      }
      await traffic.untilFlowing();
      expect(await traffic.losses()).toEqual([]);
    });

    test("Causeway's proxy is removed with all of its rules", async () => {
      await installation.helm('uninstall', 'causeway', '--wait');
      for (const node of cluster.nodes) {
        await removeOurRules(node);
        expect(await namesOf(node)).not.toContain('causeway');
      }
      await traffic.untilFlowing();
      expect(await traffic.losses()).toEqual([]);
    });
  },
);

async function startTraffic(cluster: RealCluster): Promise<Traffic> {
  const traffic = new Traffic(cluster);
  const address = await cluster.kubectl(
    ...['get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}'],
  );
  for (const { name } of cluster.nodes) {
    await traffic.addPod(name, { urls: [`http://${address}/`], everyMs: 60, streams: 4 });
  }
  const urls = cluster.nodes.map(({ place }) => `http://${place.address}:${nodePort}/`);
  await traffic.addMachine('outside', await addRoutedClient(cluster), {
    urls,
    everyMs: 20,
    streams: 9,
  });
  return traffic;
}
