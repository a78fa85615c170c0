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
const replicas = 6;
const preStopSeconds = 20;
/** Shorter than the preStop hook, so that a download that began before its pod was deleted ends before it. */
const holdMs = 10_000;

interface PodList {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly deletionTimestamp?: string;
      readonly deletionGracePeriodSeconds?: number;
    };
  }[];
}

/** Pods that continue to serve for some seconds after they are deleted. Any node may run all of them. */
function lingeringDeployment() {
  const deployment = webDeployment('web', replicas);
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
    /** When pods were deleted. */
    const deletions = new Map<string, number>();
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
      const lost = log === '' ? [] : (await lines()).filter((line) => line.kind === 'lost');
      process.stdout.write(
        `layer ${layer}: ${last?.finished ?? 0} downloads finished, ${lost.length} lost or not begun\n`,
      );
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

    /** Established downloads that were lost before their pod's hook ended. The others ended with their pod. */
    async function broken(): Promise<string[]> {
      const lost = (await lines()).filter((line) => line.kind === 'lost');
      const found = lost.filter(({ isEstablished, from, at }) => {
        const deletedAt = deletions.get(from.split(' ')[0] ?? '') ?? Number.POSITIVE_INFINITY;
        return isEstablished && at < deletedAt + preStopSeconds * 1_000;
      });
      return found.map((line) => JSON.stringify(line));
    }

    /** Records when pods of the workload were deleted, and returns how many pods there are. */
    async function recordDeletions(): Promise<number> {
      const { items } = await cluster.get<PodList>('pods', '-l', 'app=web');
      for (const { metadata } of items) {
        const { name, deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
        if (deletionTimestamp === undefined) continue;
        deletions.set(name, Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000);
      }
      return items.length;
    }

    /** Carries out an event, and waits until all pods that it deleted have ended. */
    async function during(act: () => Promise<unknown>): Promise<void> {
      let isDone = false;
      const acting = act().finally(() => (isDone = true));
      const ended = waitFor(
        'all deleted pods to end',
        async () => (await recordDeletions()) === replicas && isDone,
        { intervalMs: 1_000 },
      );
      await Promise.all([acting, ended]);
      await allRunning();
    }

    test('continue while a rolling restart replaces their pods', async () => {
      await during(async () => {
        await cluster.kubectl('rollout', 'restart', 'deployment/web');
        await installation.rollOut('deployment/web');
      });
      expect(await broken()).toEqual([]);
    });

    test('continue while kubectl drain evicts their pods', async () => {
      const [node] = cluster.nodes;
      const name = node?.name ?? '';
      const words = ['--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s'];
      await during(() => cluster.kubectl('drain', name, ...words));
      await cluster.kubectl('uncordon', name);
      expect(await broken()).toEqual([]);
    });
  },
);
