import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { ensureProgram } from '../programs.ts';
import type { ClusterNode } from './cluster-node.ts';
import { agentSecret, servedAddresses, type Gateways } from './gateways.ts';
import { controlPlaneAddress, podNetwork } from './layout.ts';
import type { RealCluster } from './real-cluster.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');
export const chart = path.join(root, 'deploy', 'helm', 'causeway');
const main = path.join(root, 'packages', 'causeway', 'src', 'cli', 'main.ts');
export const namespace = 'causeway-system';
export const dashboardToken = 'of-the-test-cluster';

/**
 * Causeway on a cluster, from its chart: gateway, idling and dashboard, and the proxy in place of kube-proxy.
 */
export class Installation {
  readonly #cluster: RealCluster;

  private constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  /** The nodes must have the image. Resolves when everything is ready. */
  static async install(
    cluster: RealCluster,
    gateways: Gateways,
    layer: 'NodePort' | 'ClusterIP' | 'Pod' = 'NodePort',
  ): Promise<Installation> {
    const installation = await Installation.prepare(cluster);
    await installation.addSecret('causeway-controller', {
      'agents.secret': agentSecret,
      'dashboard.token': dashboardToken,
    });
    await installation.helmWith(chartValues(gateways, layer), 'install', 'causeway', chart);
    await installation.rollOut('daemonset/causeway-proxy', 'causeway-node');
    await installation.rollOut('deployment/causeway-controller', namespace);
    await installation.rollOut('deployment/coredns', 'kube-system');
    return installation;
  }

  /** The namespace that Helm installs into. */
  static async prepare(cluster: RealCluster): Promise<Installation> {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels },
    });
    return new Installation(cluster);
  }

  async addSecret(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { name, namespace };
    await this.#cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData });
  }

  /** Changes values, and resolves when the affected pods have restarted. */
  async upgrade(...words: string[]): Promise<void> {
    await this.helm('upgrade', 'causeway', chart, '--reuse-values', ...words);
    await this.rollOut('deployment/causeway-controller', namespace);
  }

  /** Like in the documentation; Services must be deleted before. */
  async uninstall(): Promise<void> {
    await this.helm('uninstall', 'causeway', '--wait');
    const file = path.join(this.#cluster.files.root, 'root.json');
    await fs.writeFile(file, JSON.stringify({ securityContext: { runAsUser: 0 } }));
    const inSystem = (...words: string[]) => this.#cluster.kubectl('-n', 'kube-system', ...words);
    for (const { name } of this.#cluster.nodes) {
      const pod = ['--image', await imageName(), '--profile', 'netadmin', '--custom', file];
      await inSystem('debug', `node/${name}`, ...pod, '--', 'causeway', 'proxy', 'cleanup');
    }
    const all = ['pods', '-l', 'app.kubernetes.io/managed-by=kubectl-debug', '--timeout=300s'];
    await inSystem('wait', '--for=jsonpath={.status.phase}=Succeeded', ...all);
    await inSystem('delete', ...all);
  }

  async helm(...words: string[]): Promise<string> {
    return this.#cluster.controlPlane.runInNetwork(
      await ensureProgram('helm'),
      [...words, '--namespace', namespace, '--kubeconfig', this.#cluster.kubeconfig],
      { env: { HOME: this.#cluster.files.root } },
    );
  }

  /** The same with values for the chart. */
  async helmWith(values: object, ...words: string[]): Promise<string> {
    const file = path.join(this.#cluster.files.root, 'values.yaml');
    await fs.writeFile(file, stringify(values));
    return this.helm(...words, '--values', file);
  }

  /** Causeway's command line, as an administrator. */
  causeway(...words: string[]): Promise<string> {
    const { controlPlane, kubeconfig } = this.#cluster;
    return controlPlane.runInNetwork(process.execPath, [
      main,
      ...words,
      '--kubeconfig',
      kubeconfig,
    ]);
  }

  async rollOut(what: string, within = 'default'): Promise<void> {
    await this.#cluster.kubectl('-n', within, 'rollout', 'status', what, '--timeout=300s');
  }
}

async function imageName(): Promise<string> {
  const text = await fs.readFile(path.join(root, 'package.json'), 'utf8');
  return `causeway:${(JSON.parse(text) as { version: string }).version}`;
}

/** Removes the rules that stay after Causeway's proxy has ended. */
export async function removeOurRules({ machine }: ClusterNode): Promise<void> {
  await machine.run(process.execPath, main, 'proxy', 'cleanup');
}

/** The proxy for all Services. In place of kube-proxy it can't reach the API server through its Service. */
export const proxyValues = {
  enabled: true,
  config: { insiders: { networks: [podNetwork] }, services: 'all' },
  env: [
    { name: 'KUBERNETES_SERVICE_HOST', value: controlPlaneAddress },
    { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
  ],
};

function chartValues({ gateways }: Gateways, layer: string): object {
  return {
    gateway: { enabled: true, podLayer: layer === 'Pod' },
    idling: { enabled: true },
    dashboard: { enabled: true },
    controller: {
      config: {
        clusterId: 'real',
        defaultProvider: 'gateway',
        gateway: {
          portManager: 'static',
          layer,
          addresses: [servedAddresses],
          secretFile: '/etc/causeway/secrets/agents.secret',
          agents: gateways.map(({ name, url }) => ({ name, url })),
        },
        dashboard: { tokenFile: '/etc/causeway/secrets/dashboard.token' },
      },
    },
    proxy: proxyValues,
  };
}
