import fs from 'node:fs/promises';
import path from 'node:path';
import { descendantsOf } from '../test/services/process-tree.ts';
import { ensureProgram } from '../test/services/programs.ts';
import { removeOurRules } from '../test/services/real-cluster/installation.ts';
import type { ClusterNode } from '../test/services/real-cluster/cluster-node.ts';
import type { RealCluster } from '../test/services/real-cluster/real-cluster.ts';
import { podNetwork } from '../test/services/real-cluster/layout.ts';
import { runOrThrow } from '../test/services/run-program.ts';
import type { ServiceProcess } from '../test/services/service-process.ts';
import { waitFor } from '../test/services/wait-for.ts';
import { usageOf, type Usage } from './process-usage.ts';

const root = path.dirname(import.meta.dirname);
/** One kind of proxy on all nodes of a cluster. */
export interface NodeProxies {
  readonly kind: 'kube-proxy' | 'causeway';
  start(): Promise<void>;
  /** For each node. */
  usage(): Promise<Usage[]>;
  /** Removes everything that they wrote. */
  stop(): Promise<void>;
}

export class KubeProxies implements NodeProxies {
  readonly kind = 'kube-proxy';
  readonly #cluster: RealCluster;

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  async start(): Promise<void> {
    for (const node of this.#cluster.nodes) await node.startKubeProxy();
    await Promise.all(this.#cluster.nodes.map(untilHealthy));
    for (const { machine } of this.#cluster.nodes) {
      await waitFor('its rules', () => machine.run('nft', 'list', 'table', 'ip', 'kube-proxy'));
    }
  }

  async usage(): Promise<Usage[]> {
    const program = await fs.realpath(await ensureProgram('kube-proxy'));
    return Promise.all(this.#cluster.nodes.map((node) => usageOf(node.kubeProxyPid, program)));
  }

  async stop(): Promise<void> {
    for (const node of this.#cluster.nodes) await node.removeKubeProxy();
  }
}

/** Compiled, as in the image. */
export class OurProxies implements NodeProxies {
  readonly kind = 'causeway';
  readonly #cluster: RealCluster;
  readonly #running: ServiceProcess[] = [];

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  static async compile(): Promise<void> {
    await runOrThrow(process.execPath, [path.join(root, 'scripts', 'build.ts')]);
  }

  async start(): Promise<void> {
    const main = path.join(root, 'dist', 'cli', 'main.js');
    for (const { name, machine } of this.#cluster.nodes) {
      const words = [
        ...[main, 'proxy', '--services', 'all', '--kubeconfig', this.#cluster.kubeconfig],
        ...['--node-name', name, '--insiders-networks', podNetwork],
        ...['--conntrack-max-per-core', '0', '--conntrack-min', '0'],
      ];
      const env = { NODE_ENV: 'production' };
      this.#running.push(machine.start(`${name}-causeway-proxy`, process.execPath, words, env));
    }
    await Promise.all(this.#cluster.nodes.map(untilHealthy));
  }

  usage(): Promise<Usage[]> {
    return Promise.all(this.#running.map(({ pid }) => usageOf(pid, process.execPath)));
  }

  async stop(): Promise<void> {
    for (const proxy of this.#running.splice(0)) {
      // The started program enters the node; the proxy is below it.
      for (const pid of await descendantsOf(proxy.pid)) process.kill(pid, 'SIGTERM');
      await proxy.exited;
    }
    for (const node of this.#cluster.nodes) await removeOurRules(node);
  }
}

async function untilHealthy({ name, machine }: ClusterNode): Promise<void> {
  const words = ['-sSf', '--max-time', '5', 'http://127.0.0.1:10256/healthz'];
  await waitFor(
    `the proxy of ${name}`,
    async () => (await machine.attempt('curl', words)).code === 0,
  );
}
