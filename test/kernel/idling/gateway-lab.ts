import fs from 'node:fs/promises';
import type net from 'node:net';
import path from 'node:path';
import { stringify } from 'yaml';
import type { BackendLayer } from '../../../packages/causeway/src/services/backend-layer.ts';
import { openAgentForwarder, type AgentForwarder } from '../../cluster/gateway/agent-forwarder.ts';
import type {
  LiveCluster,
  LiveObject,
  Workspace,
} from '../../contract/kubernetes-live/live-cluster.ts';
import { runOrThrow } from '../../services/run-program.ts';
import {
  logTail,
  startServiceProcess,
  type ServiceProcess,
} from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { gateways, secret, servers, Topology } from '../gateway/topology.ts';
import { openForwarder } from '../proxy/command-lab.ts';
import type { Result } from './node.ts';

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
const programs = path.join(import.meta.dirname, 'programs');
const relay = path.join(import.meta.dirname, '..', 'proxy', 'programs', 'relay.ts');
/** Each node with the pod that can run on it. */
const places = { n1: 'p1', n2: 'p2' } as const;
type NodeName = keyof typeof places;
const nodeNames = Object.keys(places) as NodeName[];
export const podPort = 9090;
const mark = 'idling.alpha.openshift.io/idled-at';
/** How long a terminating pod keeps serving, as well-behaved ones do; its grace period is a little longer. */
const lastMs = 2_000;
export const graceSeconds = 30;
/** The address of clients outside the cluster. */
export const clientAddress = '10.77.0.100';

/**
 * A cluster, two gateways that are real machines of a topology, two nodes with the proxy as its own process,
 * and the controller. The test simulates the kubelet: a pod is a listener with its own address in the
 * namespace behind its node. It serves until it is terminated, and a little longer.
 */
export class GatewayLab {
  readonly topology: Topology;
  readonly space: Workspace;
  readonly #cluster: LiveCluster;
  readonly #pairWriter: readonly AgentForwarder[];
  readonly #apiForwarder: net.Server;
  readonly #pods = new Map<string, RunningPod>();
  #podCount = 0;
  readonly #stopped = new AbortController();
  #kubelet: Promise<void> = Promise.resolve();
  #controller: ServiceProcess | undefined;
  /** Rejects when a controller ends without being stopped. */
  readonly #controllerEnds = Promise.withResolvers<never>();
  #clients = 0;

  private constructor(parts: {
    topology: Topology;
    cluster: LiveCluster;
    space: Workspace;
    pairWriter: readonly AgentForwarder[];
    apiForwarder: net.Server;
  }) {
    this.topology = parts.topology;
    this.space = parts.space;
    this.#cluster = parts.cluster;
    this.#pairWriter = parts.pairWriter;
    this.#apiForwarder = parts.apiForwarder;
    // It may end while nothing awaits it.
    this.#controllerEnds.promise.catch(() => undefined);
  }

  static async start(startCluster: () => Promise<LiveCluster>): Promise<GatewayLab> {
    const topology = await Topology.start();
    const cluster = await startCluster();
    await topology.startAgents({ probe: { intervalMs: 500 } });
    const pairWriter = await Promise.all(
      gateways.map((name) => openAgentForwarder(topology.runtimeFile(name, 'api.sock'))),
    );
    const apiPort = Number(new URL(cluster.server.url).port);
    const apiForwarder = await openForwarder(path.join(topology.directory, 'api.sock'), apiPort);
    const space = await cluster.workspace('shop');
    const lab = new GatewayLab({ topology, cluster, space, pairWriter, apiForwarder });
    for (const name of nodeNames) await lab.#startNode(name, apiPort);
    lab.#kubelet = lab.#simulateKubelet();
    return lab;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#kubelet;
    await this.#stopController();
    for (const forwarder of this.#pairWriter) await forwarder.close();
    await this.topology.stop();
    this.#apiForwarder.close();
    await this.#cluster.server.stop();
  }

  /** Starts the controller, with gateways that use this layer, in place of the previous one. */
  async startController(layer: BackendLayer): Promise<void> {
    const secretFile = path.join(this.topology.directory, 'controller.secret');
    await fs.writeFile(secretFile, secret.toString('base64'));
    await this.#runController('gateway', {
      gateway: {
        enabled: true,
        layer,
        portManager: 'static',
        addresses: ['10.77.128.1-10.77.128.9'],
        secretFile,
        agents: gateways.map((name, index) => ({ name, url: this.#pairWriter[index]?.url })),
      },
    });
  }

  /** Starts the controller with load balancers of a cloud in place of gateways. */
  async startOctavia(cloudsYaml: string, subnetId: string): Promise<void> {
    const file = path.join(this.topology.directory, 'clouds.yaml');
    await fs.writeFile(file, cloudsYaml);
    const octavia = { enabled: true, members: 'Pod', subnets: [subnetId] };
    const env = { OS_CLIENT_CONFIG_FILE: file };
    await this.#runController('octavia', { cloud: 'demo', octavia }, env);
  }

  async #runController(provider: string, settings: object, env = {}): Promise<void> {
    await this.#stopController();
    const config = path.join(this.topology.directory, 'controller.yaml');
    const common = {
      clusterId: 'lab',
      kubeconfig: this.#cluster.server.kubeconfig,
      defaultProvider: provider,
      observe: { port: 0 },
      log: { level: 'debug', format: 'text' },
      idling: { enabled: true },
    };
    await fs.writeFile(config, stringify({ ...common, ...settings }));
    const controller = startServiceProcess(
      process.execPath,
      [main, 'controller', '--config', config],
      { logFile: this.topology.log('controller'), env: { KUBECONFIG: '', ...env } },
    );
    this.#controller = controller;
    void controller.exited.then(() => {
      if (this.#controller !== controller) return;
      const last = logTail(this.topology.log('controller'));
      this.#controllerEnds.reject(
        new HopelessError(`the controller has ended unexpectedly:\n${last}`),
      );
    });
  }

  async #stopController(): Promise<void> {
    const controller = this.#controller;
    this.#controller = undefined;
    await controller?.stop();
  }

  /** Without a controller, for example after a lost lease, there is nothing to wait for. */
  #whileControlled<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#controllerEnds.promise]);
  }

  /** Runs `causeway` like an operator. */
  async command(...words: string[]): Promise<string> {
    const { kubeconfig } = this.#cluster.server;
    return runOrThrow(process.execPath, [main, ...words, '--kubeconfig', kubeconfig]);
  }

  /** The Service's address at the gateways, once it is served. */
  async addressOf(name: string): Promise<string> {
    const served = waitFor(
      `${name} to be served`,
      async () => {
        const status = (await this.space.get('services', name))?.status as
          | ServiceStatus
          | undefined;
        if (status?.conditions?.[0]?.status === 'True')
          return status.loadBalancer?.ingress?.[0]?.ip;
        throw new Error(`${JSON.stringify(status)}\n${logTail(this.topology.log('controller'))}`);
      },
      { intervalMs: 100 },
    );
    return this.#whileControlled(served);
  }

  /** Waits until every node holds connections to the Service, and every gateway leads to the nodes. */
  async untilAsleep(name: string): Promise<void> {
    await this.untilHeld(name);
    const nodePort = await this.nodePortOf(name);
    for (const gateway of gateways) {
      await this.#shows(gateway, 'causeway', 'node-ports4', new RegExp(` : ${nodePort}\\b`));
    }
  }

  /** Waits until every node holds connections to the Service's first node port. */
  async untilHeld(name: string): Promise<void> {
    const nodePort = await this.nodePortOf(name);
    for (const node of nodeNames) {
      const parked = new RegExp(`${servers[node].v4} \\. tcp \\. ${nodePort} : goto hold-`);
      await this.#shows(node, 'causeway-proxy', 'services4', parked);
    }
  }

  async nodePortOf(name: string): Promise<number> {
    const service = await this.space.get('services', name);
    const [port] = (service?.spec['ports'] ?? []) as { nodePort?: number }[];
    return port?.nodePort ?? 0;
  }

  async #shows(machine: string, table: string, map: string, text: RegExp): Promise<void> {
    const words = ['nft', 'list', 'map', 'inet', table, map];
    const shown = waitFor(`${machine} to show ${text.source}`, async () =>
      text.test(await this.topology.network.run(machine, words)),
    );
    await this.#whileControlled(shown);
  }

  /** The gateways reach the Service's cluster address through the first node. Returns that address. */
  async routeClusterAddress(name: string): Promise<string> {
    const service = await this.space.get('services', name);
    const address = String(service?.spec['clusterIP']);
    for (const gateway of gateways) {
      await this.topology.network.ip(gateway, `route add ${address} via ${servers.n1.v4}`);
    }
    return address;
  }

  /** Nodes drop ended connections within a second instead of two minutes. */
  async expireConnectionsSoon(): Promise<void> {
    for (const node of nodeNames) {
      for (const state of ['time_wait', 'close', 'last_ack']) {
        await this.topology.network.sysctl(
          node,
          `net.netfilter.nf_conntrack_tcp_timeout_${state}`,
          1,
        );
      }
    }
  }

  /** Waits until the Service has a mark of idling. */
  async untilMarked(name: string): Promise<void> {
    const isMarked = ({ metadata }: LiveObject) => metadata.annotations?.[mark] !== undefined;
    await this.#whileControlled(
      this.space.untilObject('the mark to come', 'services', name, isMarked),
    );
  }

  /** Waits until a pod is ready, and the Service has no mark of idling. */
  async untilAwake(name: string): Promise<void> {
    const isAwake = ({ metadata }: LiveObject) => metadata.annotations?.[mark] === undefined;
    await this.#whileControlled(
      this.space.untilObject('the mark to go', 'services', name, isAwake),
    );
    const ready = this.space.until('a ready pod', 'endpointslices', (slices) =>
      slices.some((slice) => JSON.stringify(slice).includes('"ready":true')),
    );
    await this.#whileControlled(ready);
  }

  /** Starts clients, by default outside the cluster; the result comes when all were answered or gave up. */
  startClients(order: object, machine = 'c'): Promise<Result> {
    this.#clients += 1;
    const name = `clients-${this.#clients}`;
    const full = { count: 1, limitMs: 240_000, ...order };
    const words = [path.join(programs, 'clients.ts'), JSON.stringify(full)];
    const child = this.topology.start(machine, name, words);
    const result = child.exited.then(async () => {
      const text = await fs.readFile(this.topology.log(name), 'utf8');
      return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Result;
    });
    return this.#whileControlled(result);
  }

  async #startNode(name: NodeName, apiPort: number): Promise<void> {
    await this.#addNodeObject(name);
    const { directory } = this.topology;
    const window = `window-${name}`;
    this.topology.start(name, window, [relay, String(apiPort), path.join(directory, 'api.sock')]);
    await this.#untilLogSays(window, 'ready');
    const config = path.join(directory, `proxy-${name}.yaml`);
    const settings = {
      kubeconfig: this.#cluster.server.kubeconfig,
      nodeName: name,
      services: 'all',
      insiders: { networks: ['10.79.0.0/16'] },
      conntrack: { maxPerCore: 0, min: 0 },
      idling: { reportSeconds: 1 },
      log: { level: 'debug', format: 'text' },
    };
    await fs.writeFile(config, stringify(settings));
    this.topology.start(name, `proxy-${name}`, [main, 'proxy', '--config', config]);
  }

  async #addNodeObject(name: NodeName): Promise<void> {
    const { server } = this.#cluster;
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    await server.call('POST', '/api/v1/nodes', { body });
    const status = {
      addresses: [{ type: 'InternalIP', address: servers[name].v4 }],
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    };
    const answer = await server.call('PATCH', `/api/v1/nodes/${name}/status`, {
      body: { status },
      contentType: 'application/merge-patch+json',
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  }

  async #simulateKubelet(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      // Concurrent changes are handled in the next round.
      await this.#takeTurn().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #takeTurn(): Promise<void> {
    const objects = new Map((await this.space.list('pods')).map((pod) => [pod.metadata.uid, pod]));
    for (const [uid, running] of this.#pods) await this.#endPod(uid, running, objects.get(uid));
    for (const pod of objects.values()) {
      const isNew = pod.status['phase'] === 'Pending' && !this.#pods.has(pod.metadata.uid);
      if (isNew && pod.metadata.deletionTimestamp === undefined) await this.#runPod(pod);
    }
  }

  async #runPod(pod: LiveObject): Promise<void> {
    const machine = places[pod.spec['nodeName'] as NodeName];
    const { uid, name } = pod.metadata;
    // Rotates, so that an address is not reused at once.
    const address = servers[machine].v4.replace(/\d+$/, String(10 + (this.#podCount % 200)));
    this.#podCount += 1;
    await this.topology.network.ip(machine, `address add ${address}/24 dev eth0`);
    const words = [path.join(programs, 'pod.ts'), String(podPort), address];
    const listener = this.topology.start(machine, name, words);
    this.#pods.set(uid, { listener, machine, address, endsAt: undefined });
    await this.#untilLogSays(name, 'ready');
    await this.space.report(pod, true, address);
  }

  /** Stops deleted pods at once, and terminating ones when their time is up. */
  async #endPod(uid: string, running: RunningPod, pod: LiveObject | undefined): Promise<void> {
    if (pod !== undefined && pod.metadata.deletionTimestamp === undefined) return;
    running.endsAt ??= performance.now() + lastMs;
    if (pod !== undefined && performance.now() < running.endsAt) return;
    this.#pods.delete(uid);
    await running.listener.stop();
    const { machine, address } = running;
    await this.topology.network.ip(machine, `address del ${address}/24 dev eth0`);
    if (pod === undefined) return;
    await this.space.delete('pods', pod.metadata.name, { gracePeriodSeconds: 0 });
  }

  async #untilLogSays(name: string, word: string): Promise<void> {
    const log = this.topology.log(name);
    await waitFor(`${name} to be ${word}`, async () =>
      (await fs.readFile(log, 'utf8')).includes(word),
    );
  }
}

interface ServiceStatus {
  readonly conditions?: readonly { readonly status: string }[];
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] };
}

interface RunningPod {
  readonly listener: ServiceProcess;
  readonly machine: string;
  readonly address: string;
  /** Time when it stops serving, once it is terminating. */
  endsAt: number | undefined;
}
