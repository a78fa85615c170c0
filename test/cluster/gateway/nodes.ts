import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { servers, type Topology } from '../../kernel/gateway/topology.ts';
import { openForwarder, type Forwarder } from '../../services/tcp-forwarder.ts';
import type { RealKubernetes } from '../../services/kubernetes.ts';
import { ensureProgram } from '../../services/programs.ts';
import { logTail, type ServiceProcess } from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';

const relay = path.join(import.meta.dirname, '..', '..', 'kernel', 'proxy', 'programs', 'relay.ts');
export const nodeNames = ['n1', 'n2'] as const;
type NodeName = (typeof nodeNames)[number];
/** Networks of the pods. */
const podNetworks = '10.79.0.0/16,2001:db8:79::/48';

/** A node as reported by its kubelet. */
export function nodeObjects(): readonly object[] {
  return nodeNames.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
}

export function nodeStatus(name: NodeName): object {
  return {
    addresses: Object.values(servers[name]).map((address) => ({ type: 'InternalIP', address })),
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
  };
}

/** The real kube-proxy on both nodes, which reaches the API through a Unix socket. */
export class NodeProxies {
  readonly #topology: Topology;
  readonly #forwarder: Forwarder;

  private constructor(topology: Topology, forwarder: Forwarder) {
    this.#topology = topology;
    this.#forwarder = forwarder;
  }

  static async start(topology: Topology, { url, kubeconfig }: RealKubernetes) {
    const port = Number(new URL(url).port);
    const socket = path.join(topology.directory, 'api.sock');
    const forwarder = await openForwarder({ path: socket }, { host: '127.0.0.1', port });
    const proxies = new NodeProxies(topology, forwarder);
    for (const name of nodeNames) {
      topology.start(name, `window-${name}`, [relay, String(port), socket]);
      const log = topology.log(`window-${name}`);
      await waitFor(`the forwarder from ${name} to the API`, async () =>
        (await fs.readFile(log, 'utf8')).includes('ready'),
      );
      await proxies.#startProxy(name, kubeconfig);
    }
    return proxies;
  }

  /** The proxies end with their machines. */
  stop(): Promise<void> {
    return this.#forwarder.close();
  }

  async #startProxy(name: NodeName, kubeconfig: string): Promise<void> {
    const config = path.join(this.#topology.directory, `kube-proxy-${name}.yaml`);
    const settings = {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      clientConnection: { kubeconfig },
      hostnameOverride: name,
      mode: 'nftables',
      clusterCIDR: podNetworks,
      conntrack: { maxPerCore: 0, min: 0 },
    };
    await fs.writeFile(config, stringify(settings));
    const program = await ensureProgram('kube-proxy');
    const log = `kube-proxy-${name}`;
    const child = this.#topology.startProgram(name, log, [program, '--config', config]);
    await waitFor(`the kube-proxy of ${name}`, () => this.#hasRules(name, child, log));
  }

  async #hasRules(name: NodeName, child: ServiceProcess, log: string): Promise<boolean> {
    if (!child.isRunning()) throw new HopelessError(logTail(this.#topology.log(log)));
    const tables = await this.#topology.network.run(name, ['nft', 'list', 'tables']);
    return ['ip', 'ip6'].every((family) => tables.includes(`table ${family} kube-proxy`));
  }
}
