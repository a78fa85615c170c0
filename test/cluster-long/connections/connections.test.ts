import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webDeployment, webService } from '../../cluster/real/workloads.ts';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { ensureProductImage } from '../../services/image/product-image.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { Gateways } from '../../services/real-cluster/gateways.ts';
import { Installation } from '../../services/real-cluster/installation.ts';
import { prepareRealCluster, RealCluster } from '../../services/real-cluster/real-cluster.ts';
import { waitFor } from '../../services/wait-for.ts';
import { readDownloadLines, type DownloadLine } from './download-lines.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

const program = path.join(import.meta.dirname, 'programs', 'held-downloads.ts');
const downloads = 100;
const preStopSeconds = 20;
/** Shorter than the preStop hook, so that each download ends before its pod. */
const holdMs = 10_000;

/** Pods that continue to serve for some seconds after they are deleted. Any node may run all of them. */
function lingeringDeployment() {
  const deployment = webDeployment('web', 6);
  const { template } = deployment.spec;
  const { topologySpreadConstraints: _, containers, ...rest } = template.spec;
  const lifecycle = { preStop: { sleep: { seconds: preStopSeconds } } };
  const spec = {
    ...rest,
    terminationGracePeriodSeconds: 2 * preStopSeconds,
    containers: containers.map((container) => ({ ...container, lifecycle })),
  };
  return { ...deployment, spec: { ...deployment.spec, template: { ...template, spec } } };
}

/** The tests run in order, on real kubelets, with downloads through the gateways all the time. */
describe.skipIf(!isRunnable).each(['Pod', 'NodePort'] as const)(
  'established connections in the layer %s',
  (layer) => {
    let cluster: RealCluster;
    let installation: Installation;
    let log = '';
    beforeAll(async () => {
      const { archive } = await ensureProductImage();
      cluster = await RealCluster.start({ kubeProxy: false, images: [archive] });
      const gateways = await Gateways.start(cluster);
      installation = await Installation.install(cluster, gateways, layer);
      await cluster.apply(lingeringDeployment(), webService('web', { type: 'LoadBalancer' }));
      await installation.rollOut('deployment/web');
      const address = await waitFor('the address of the Service', async () => {
        const words = ['service', 'web', '-o', 'jsonpath={.status.loadBalancer.ingress[0].ip}'];
        return (await cluster.kubectl('get', ...words)).trim() || undefined;
      });
      log = cluster.files.log('held-downloads');
      gateways.client.start('held-downloads', process.execPath, [
        ...[program, `http://${address}/stream`, String(downloads), String(holdMs)],
      ]);
      await allRunning();
    });
    afterAll(async () => {
      const last =
        log === '' ? undefined : (await lines()).findLast((line) => line.kind === 'summary');
      process.stdout.write(`layer ${layer}: ${last?.finished ?? 0} downloads finished\n`);
      await cluster?.stop();
    });

    const lines = async (): Promise<DownloadLine[]> =>
      readDownloadLines(await fs.readFile(log, 'utf8'));

    /** Waits until nearly all downloads run: the client ends and starts some of them all the time. */
    async function allRunning(): Promise<void> {
      await waitFor(`${downloads} downloads`, async () => {
        const all = await lines();
        const last = all.findLast((line) => line.kind === 'summary');
        if (last !== undefined && last.running >= downloads * 0.9) return true;
        throw new Error(
          all
            .slice(-5)
            .map((line) => JSON.stringify(line))
            .join('\n'),
        );
      });
    }

    async function broken(): Promise<string[]> {
      const found = (await lines()).filter((line) => line.kind === 'lost' && line.isEstablished);
      return found.map((line) => JSON.stringify(line));
    }

    /** Waits until no pod of the workload is about to end. */
    async function noneTerminating(): Promise<void> {
      await waitFor('all deleted pods to end', async () => {
        const names = await cluster.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name');
        return names.trim().split('\n').length === 6;
      });
      await allRunning();
    }

    test('continue while a rolling restart replaces their pods', async () => {
      await cluster.kubectl('rollout', 'restart', 'deployment/web');
      await installation.rollOut('deployment/web');
      await noneTerminating();
      expect(await broken()).toEqual([]);
    });

    test('continue while kubectl drain evicts their pods', async () => {
      const [node] = cluster.nodes;
      const name = node?.name ?? '';
      const words = ['--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s'];
      await cluster.kubectl('drain', name, ...words);
      await installation.rollOut('deployment/web');
      await noneTerminating();
      await cluster.kubectl('uncordon', name);
      expect(await broken()).toEqual([]);
    });
  },
);
