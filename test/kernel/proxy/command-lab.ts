import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { stringify } from 'yaml';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import {
  loadKubeconfig,
  resolveKubeconfig,
} from '../../../packages/kubernetes/src/credentials/kubeconfig.ts';
import { namespaces, nodes } from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { listen } from '../../../packages/base/src/network/listen.ts';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import type { Host } from '../../services/namespaces.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { startServiceProcess, type ServiceProcess } from '../../services/service-process.ts';
import { nodeIp, nodeIp6, ProxyLab } from './proxy-lab.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
const relay = path.join(import.meta.dirname, 'programs', 'relay.ts');

/** The command `causeway proxy` on the node of a ProxyLab, with an embedded API. */
export class CommandLab {
  readonly lab: ProxyLab;
  readonly client: KubeClient;
  readonly directory: string;
  readonly #api: TestApi;
  readonly #forwarder: net.Server;
  #proxy: ServiceProcess | undefined;

  private constructor(
    parts: { lab: ProxyLab; client: KubeClient; directory: string },
    api: TestApi,
    forwarder: net.Server,
  ) {
    this.lab = parts.lab;
    this.client = parts.client;
    this.directory = parts.directory;
    this.#api = api;
    this.#forwarder = forwarder;
  }

  /** Uses the embedded API by default. */
  static async create(
    startApi: () => Promise<TestApi> = startEmbeddedKubernetes,
  ): Promise<CommandLab> {
    const lab = await ProxyLab.create();
    const directory = await scratchDirectory('proxy');
    const api = await startApi();
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, api.kubeconfig);
    const connection = resolveKubeconfig(await loadKubeconfig([kubeconfig]), {
      env: {},
      clock: systemClock,
    });
    const transport = new HttpTransport(connection, systemClock);
    const client = new KubeClient({ transport, clock: systemClock, metrics: noMetrics });
    const port = Number(new URL(api.url).port);
    const socket = path.join(directory, 'api.sock');
    const forwarder = await openForwarder(socket, port);
    await openWindow(lab.host('node'), port, socket);
    await client.create(namespaces, { metadata: { name: 'shop' } });
    const labels = { 'topology.kubernetes.io/zone': 'a' };
    const node = await client.create(nodes, { metadata: { name: 'node1', labels } });
    await client.update(
      nodes,
      {
        ...node,
        status: {
          addresses: [
            { type: 'InternalIP', address: nodeIp },
            { type: 'InternalIP', address: nodeIp6 },
          ],
        },
      },
      { subresource: 'status' },
    );
    return new CommandLab({ lab, client, directory }, api, forwarder);
  }

  get logFile(): string {
    return path.join(this.directory, 'proxy.log');
  }

  /** Starts the command with a KubeProxyConfiguration and more arguments. */
  async start(fields: object, ...words: string[]): Promise<ServiceProcess> {
    return this.startCompiled(main, fields, ...words);
  }

  /** The same with another form of the program, such as the compiled one. */
  async startCompiled(
    program: string,
    fields: object,
    ...words: string[]
  ): Promise<ServiceProcess> {
    const config = await this.#writeConfig(fields);
    return this.#run(process.execPath, [program, 'proxy', ...words, '--config', config]);
  }

  /** Starts the real kube-proxy with the same configuration. */
  async startKubeProxy(program: string, fields: object = {}): Promise<ServiceProcess> {
    return this.#run(program, ['--config', await this.#writeConfig(fields)]);
  }

  async #writeConfig(fields: object): Promise<string> {
    const config = path.join(this.directory, 'config.yaml');
    await fs.writeFile(
      config,
      stringify({
        apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
        kind: 'KubeProxyConfiguration',
        clientConnection: { kubeconfig: path.join(this.directory, 'kubeconfig') },
        hostnameOverride: 'node1',
        mode: 'nftables',
        clusterCIDR: '10.1.0.0/16,fd01::/48',
        ...fields,
      }),
    );
    return config;
  }

  #run(program: string, args: readonly string[]): ServiceProcess {
    const proxy = startServiceProcess(
      'nsenter',
      [`--net=${this.lab.host('node').path}`, program, ...args],
      { logFile: this.logFile },
    );
    this.#proxy = proxy;
    return proxy;
  }

  /** Answer of the node's own HTTP servers. */
  async get(url: string): Promise<{ status: number; body: string }> {
    const script = `const r = await fetch(process.argv[1]).catch(() => ({ status: 0, text: () => '' }));
      console.log(JSON.stringify({ status: r.status, body: await r.text() }));`;
    const args = ['--input-type=module', '-e', script, url];
    const output = await this.lab.host('node').run(process.execPath, ...args);
    return JSON.parse(output) as { status: number; body: string };
  }

  async remove(): Promise<void> {
    await this.#proxy?.stop();
    await this.lab.remove();
    await this.client.close();
    this.#forwarder.close();
    await this.#api.stop();
    await removeDirectory(this.directory);
  }
}

/** An API server on the loopback address. */
export interface TestApi {
  readonly url: string;
  /** A kubeconfig as text. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Forwards from a Unix socket, which is independent of network namespaces, to the API. */
export async function openForwarder(socket: string, port: number): Promise<net.Server> {
  const forwarder = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await listen(forwarder, { path: socket });
  return forwarder;
}

/** Forwards from a port of the host's own loopback to that socket. */
export async function openWindow(host: Host, port: number, socket: string): Promise<void> {
  const child = host.start(process.execPath, relay, String(port), socket);
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the relay ended with ${code}`)));
  });
}
