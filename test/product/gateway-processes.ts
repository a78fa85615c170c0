import fs from 'node:fs/promises';
import path from 'node:path';
import { HttpAgentClient } from '../../packages/causeway/src/gateway/protocol/agent-client.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import type { Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { logTail, startServiceProcess, type ServiceProcess } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';

/** Without the launcher, so that signals reach the process itself. */
const main = path.resolve(import.meta.dirname, '../../packages/causeway/src/cli/main.ts');
const secret = Buffer.from('a secret that only tests share');
const { signal } = new AbortController();

export interface AgentProcess {
  readonly name: string;
  readonly url: string;
  readonly child: ServiceProcess;
  readonly agent: HttpAgentClient;
}

/** A controller and agents as their own processes, with an embedded Kubernetes API and kernels in memory. */
export class GatewayProcesses {
  readonly client: KubeClient;
  readonly #directory: string;
  readonly kubernetes: EmbeddedKubernetes;
  readonly #started: ServiceProcess[] = [];

  private constructor(directory: string, kubernetes: EmbeddedKubernetes, client: KubeClient) {
    this.#directory = directory;
    this.kubernetes = kubernetes;
    this.client = client;
  }

  static async prepare(name: string): Promise<GatewayProcesses> {
    const directory = await scratchDirectory(name);
    const kubernetes = await startEmbeddedKubernetes();
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
    await fs.writeFile(path.join(directory, 'secret'), secret.toString('base64'));
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    const client = new KubeClient({ transport, clock: systemClock });
    return new GatewayProcesses(directory, kubernetes, client);
  }

  async close(): Promise<void> {
    for (const each of this.#started) each.kill('SIGKILL');
    await Promise.all(this.#started.map(({ exited }) => exited));
    await this.client.close();
    await this.kubernetes.stop();
    await removeDirectory(this.#directory);
  }

  async startAgent(name: string): Promise<AgentProcess> {
    const child = await this.#start(name, ['agent', 'run'], {
      name,
      listen: { address: '127.0.0.1', port: 0 },
      metrics: { address: '127.0.0.1', port: 0 },
      stateDirectory: path.join(this.#directory, name, 'state'),
      runtimeDirectory: path.join(this.#directory, name, 'run'),
      secretsFile: path.join(this.#directory, 'secret'),
      nftables: { driver: 'memory' },
      addresses: { mover: 'simulated', simulatedWith: this.#directory },
      probe: { intervalMs: 0 },
    });
    const url = await waitFor(`${name} to listen`, async () => {
      const log = await fs.readFile(this.#logOf(name), 'utf8');
      return /"url":"([^"]+)"/.exec(log)?.[1];
    });
    const agent = new HttpAgentClient({ url, name, secret, clock: systemClock, limitMs: 10_000 });
    return { name, url, child, agent };
  }

  /** `server` is the address of the API server, if not that of the embedded one; it needs no credentials. */
  async startController(
    agents: readonly AgentProcess[],
    settings: { readonly electsLeader?: boolean; readonly server?: string } = {},
  ): Promise<ServiceProcess> {
    const { server } = settings;
    return this.#start('controller', ['controller'], {
      kubeconfig: server === undefined ? this.#kubeconfig : await this.#writeKubeconfig(server),
      defaultProvider: 'gateway',
      leaderElection: { enabled: settings.electsLeader === true },
      observe: { port: 0 },
      gateway: {
        enabled: true,
        layer: 'Pod',
        portManager: 'static',
        addresses: ['192.0.2.1-192.0.2.60'],
        agents: agents.map(({ name, url }) => ({ name, url })),
        secretFile: path.join(this.#directory, 'secret'),
      },
    });
  }

  /** The answer of the newest controller's `/readyz`. */
  async readiness(): Promise<string> {
    const log = await fs.readFile(this.#logOf('controller'), 'utf8');
    const url = [...log.matchAll(/"health":"([^"]+)"/g)].at(-1)?.[1];
    if (url === undefined) throw new Error('the controller does not listen yet');
    return (await fetch(`${url}/readyz`)).text();
  }

  async create(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const spec = { type: 'LoadBalancer' as const, ports: [{ port: 80 }] };
      await this.client.create(services, { metadata: { namespace: 'default', name }, spec });
    }
  }

  /** The addresses of these Services, once the status of all of them says that they are served. */
  async addressesOf(names: readonly string[]): Promise<string[]> {
    return waitFor(`${names.length} Services to be served`, async () => {
      const found: Service[] = [];
      for await (const each of this.client.list(services, { namespace: 'default' }))
        found.push(each);
      const own = found.filter(
        (each) => names.includes(each.metadata?.name ?? '') && isServed(each),
      );
      if (own.length < names.length)
        throw new Error(`${own.length}: ${logTail(this.#logOf('controller'))}`);
      return own.flatMap((each) => each.status?.loadBalancer?.ingress?.[0]?.ip ?? []).sort();
    });
  }

  async #start(name: string, words: readonly string[], settings: object): Promise<ServiceProcess> {
    const file = path.join(this.#directory, `${name}.yaml`);
    await fs.writeFile(file, JSON.stringify(settings));
    const child = startServiceProcess(process.execPath, [main, ...words, '-c', file], {
      logFile: this.#logOf(name),
    });
    this.#started.push(child);
    return child;
  }

  get #kubeconfig(): string {
    return path.join(this.#directory, 'kubeconfig');
  }

  async #writeKubeconfig(server: string): Promise<string> {
    const file = path.join(this.#directory, 'kubeconfig-of-controller');
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
      clusters: [{ name: 'test', cluster: { server } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      users: [{ name: 'test', user: {} }],
    };
    await fs.writeFile(file, JSON.stringify(config));
    return file;
  }

  #logOf(name: string): string {
    return path.join(this.#directory, `${name}.log`);
  }
}

const isServed = ({ status }: Service) =>
  status?.conditions?.some(({ status: is }) => is === 'True') === true;

export async function addressesServedBy({ agent }: AgentProcess): Promise<string[]> {
  return (await agent.counters(signal)).map(({ address }) => address).sort();
}

export async function untilServes(
  agent: AgentProcess,
  addresses: readonly string[],
): Promise<void> {
  await waitFor(`${agent.name} to serve exactly ${addresses.length} Services`, async () => {
    const found = await addressesServedBy(agent);
    if (found.join() !== addresses.join()) throw new Error(`it serves ${found.join()}`);
    return true;
  });
}
