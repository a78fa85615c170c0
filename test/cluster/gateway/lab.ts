import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../../packages/kubernetes/src/client/connection.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { Cloud } from '../../../packages/openstack/src/cloud.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { loadCloudConfig } from '../../../packages/openstack/src/config/load.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { fencedGateways, PortSecurity } from '../../kernel/gateway/port-security.ts';
import {
  gateways,
  secret,
  servers,
  Topology,
  type GatewayName,
} from '../../kernel/gateway/topology.ts';
import { startKubernetes, type RealKubernetes } from '../../services/kubernetes.ts';
import { startOpenStack, type RealOpenStack } from '../../services/openstack.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { logTail, startServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import { allowedBy, makeGatewayNetworks, type GatewayNetworks } from './gateway-networks.ts';
import { openAgentForwarder, type AgentForwarder } from './agent-forwarder.ts';
import { KeptProcess } from '../../services/kept-process.ts';
import { nodeNames, nodeObjects, nodeStatus, NodeProxies } from './nodes.ts';
import { OutsideWorld } from './outside-world.ts';

const sourceRoot = path.join(import.meta.dirname, '..', '..', '..');
const { signal } = new AbortController();
export const clusterId = 'lab';
const podPort = 9090;
/** Machines of the topology that are pods. */
const pods = ['p1', 'p2'] as const;
type PodName = (typeof pods)[number];

export type Layer = 'NodePort' | 'ClusterIP' | 'Pod';

/**
 * A real kube-apiserver with its controllers, real Keystone and Neutron, two gateways with real nft and
 * keepalived, and the controller as its own process.
 */
export class Lab {
  readonly topology: Topology;
  readonly world: OutsideWorld;
  readonly neutron: Neutron;
  readonly #kubernetes: RealKubernetes;
  readonly #openstack: RealOpenStack;
  readonly #cloud: Cloud;
  readonly #pairWriter: readonly AgentForwarder[];
  readonly #security: PortSecurity;
  #kubectl = '';
  #client: KubeClient | undefined;
  #controller: KeptProcess | undefined;
  #proxies: NodeProxies | undefined;
  #networks: GatewayNetworks | undefined;

  private constructor(parts: {
    topology: Topology;
    world: OutsideWorld;
    neutron: Neutron;
    kubernetes: RealKubernetes;
    openstack: RealOpenStack;
    cloud: Cloud;
    pairWriter: readonly AgentForwarder[];
  }) {
    this.topology = parts.topology;
    this.world = parts.world;
    this.neutron = parts.neutron;
    this.#kubernetes = parts.kubernetes;
    this.#openstack = parts.openstack;
    this.#cloud = parts.cloud;
    this.#pairWriter = parts.pairWriter;
    this.#security = new PortSecurity(parts.topology.network);
  }

  static async start(): Promise<Lab> {
    const started: { stop(): Promise<void> }[] = [];
    const keep = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
      const running = await starting;
      started.push(running);
      return running;
    };
    const parts = [
      keep(startKubernetes({ controllerManager: true, controllers: ['endpointslice-controller'] })),
      keep(startOpenStack()),
      keep(Topology.start()),
    ] as const;
    try {
      return await Lab.#join(...(await Promise.all(parts)));
    } catch (error) {
      await Promise.allSettled(parts);
      for (const service of started) await service.stop();
      throw error;
    }
  }

  static async #join(
    kubernetes: RealKubernetes,
    openstack: RealOpenStack,
    topology: Topology,
  ): Promise<Lab> {
    const config = await loadCloudConfig({
      environment: {},
      cloud: 'demo',
      cloudsFile: openstack.cloudsYaml,
      workingDirectory: openstack.directory,
    });
    const cloud = new Cloud(config, { log: discardLog, metrics: noMetrics });
    const neutron = new Neutron(cloud.session());
    const [world, pairWriter] = await Promise.all([
      OutsideWorld.build(topology, neutron),
      Promise.all(
        gateways.map((name) => openAgentForwarder(topology.runtimeFile(name, 'api.sock'))),
      ),
      topology.startAgents(),
    ]);
    const lab = new Lab({ topology, world, neutron, kubernetes, openstack, cloud, pairWriter });
    await lab.#prepare();
    return lab;
  }

  async stop(): Promise<void> {
    await this.#controller?.stop();
    await this.#proxies?.stop();
    for (const forwarder of this.#pairWriter) await forwarder.close();
    await this.#cloud.close();
    await this.#client?.close();
    await this.topology.stop();
    await Promise.all([this.#openstack.stop(), this.#kubernetes.stop()]);
  }

  /** Current state of a Service. */
  async find(name: string): Promise<Service | undefined> {
    return this.#client?.find(services, { namespace: 'default', name });
  }

  kubectl(...words: string[]): Promise<string> {
    return runOrThrow(this.#kubectl, ['--kubeconfig', this.#kubernetes.kubeconfig, ...words]);
  }

  async apply(...objects: object[]): Promise<void> {
    const input = objects.map((object) => stringify(object)).join('---\n');
    const words = ['--kubeconfig', this.#kubernetes.kubeconfig, 'apply', '-f', '-'];
    await runOrThrow(this.#kubectl, words, { input });
  }

  /** Starts kube-proxy on the nodes, and routes cluster addresses from the gateways to one of them. */
  async startProxies(): Promise<void> {
    this.#proxies = await NodeProxies.start(this.topology, this.#kubernetes);
    for (const name of gateways) {
      await this.topology.network.ip(name, `route add 10.96.0.0/16 via ${servers.n1.v4}`);
      await this.topology.network.ip(name, `-6 route add fd00:96::/112 via ${servers.n1.v6}`);
    }
  }

  /** Starts the controller, with gateways that use this layer. */
  async startController(layer: Layer = 'Pod'): Promise<void> {
    const config = path.join(this.topology.directory, 'controller.yaml');
    await fs.writeFile(config, stringify(this.#settings(layer)));
    const main = path.join(sourceRoot, 'packages/causeway/src/cli/main.ts');
    this.#controller = new KeptProcess(() =>
      startServiceProcess(process.execPath, [main, 'controller', '--config', config], {
        logFile: this.topology.log('controller'),
        env: { OS_CLIENT_CONFIG_FILE: this.#openstack.cloudsYaml, KUBECONFIG: '' },
      }),
    );
  }

  /** Like an update: it ends gracefully, and another one starts. */
  async stopController(): Promise<void> {
    await this.#controller?.stop();
  }

  /** Neutron accepts requests and does nothing, until the returned function is called. */
  suspendNeutron(): Promise<() => void> {
    return this.#openstack.suspend('neutron');
  }

  /** Kills it without warning, in the middle of its work. */
  async killController(): Promise<void> {
    await this.#controller?.kill();
  }

  /** Reports a running pod, like a kubelet. */
  async runPod(name: PodName): Promise<void> {
    await this.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: 'web' } },
      spec: { nodeName: name === 'p1' ? 'n1' : 'n2', containers: [{ name: 'web', image: 'web' }] },
    });
    const { v4, v6 } = servers[name];
    const status = {
      phase: 'Running',
      podIP: v4,
      podIPs: [{ ip: v4 }, { ip: v6 }],
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await this.#report('pod', name, status);
  }

  /** The address in the Service's status, once it is served. */
  async addressOf(service: string): Promise<string> {
    const [address = ''] = await this.addressesOf(service);
    return address;
  }

  async addressesOf(service: string): Promise<readonly string[]> {
    return waitFor(
      `${service} to be served`,
      async () => {
        const status = (await this.find(service))?.status;
        if (status?.conditions?.[0]?.status !== 'True') {
          throw new Error(`${JSON.stringify(status)}\n${logTail(this.topology.log('controller'))}`);
        }
        return status.loadBalancer?.ingress?.map(({ ip = '' }) => ip);
      },
      { intervalMs: 200 },
    );
  }

  /** Waits until exactly these pods answer a remote client at this address. */
  async untilAnswers(expected: readonly string[], address: string, port: number): Promise<void> {
    await waitFor(`${expected.join(' and ')} to answer on ${address}, port ${port}`, async () => {
      const tries = Array.from({ length: 8 }, () => this.world.curl(address, port));
      const seen = (await Promise.all(tries)).map((each) => each ?? 'no pod');
      const present = [...new Set(seen)].sort();
      if (present.join() !== expected.join()) throw new Error(`seen: ${present.join()}`);
      return true;
    });
  }

  /** Waits until the gateway's rules contain all of these as destinations, and none of the others. */
  async untilLeadsTo(
    gateway: GatewayName,
    destinations: readonly string[],
    former: readonly string[],
  ): Promise<void> {
    const list = ['nft', '-n', 'list', 'table', 'inet', 'causeway'];
    await waitFor(`${gateway} to lead to ${destinations.join(' and ')}`, async () => {
      const rules = await this.topology.network.run(gateway, list);
      const names = (each: string) => rules.includes(` ${each} `);
      return destinations.every(names) && !former.some(names);
    });
  }

  /** Waits until nothing of Causeway is left in Neutron. */
  async untilNothingIsLeft(): Promise<void> {
    await waitFor(
      'nothing to be left in Neutron',
      async () => {
        const left = await this.#leftovers();
        if (left.length > 0) throw new Error(left.join());
        return true;
      },
      { intervalMs: 500 },
    );
  }

  /**
   * Applies port security once, according to Neutron: returns the gateways that are limited to their own
   * addresses.
   */
  async obeyPorts(): Promise<GatewayName[]> {
    const allowed = allowedBy(await collect(this.neutron.ports.list({}, { signal })));
    await this.#security.obey(allowed);
    return fencedGateways(allowed);
  }

  async #leftovers(): Promise<string[]> {
    const ports = await collect(this.neutron.ports.list({}, { signal }));
    const floating = await collect(this.neutron.floatingIps.list({}, { signal }));
    return [
      ...ports.filter(({ name }) => name.startsWith('causeway-')).map(({ name }) => name),
      ...floating.map(({ address }) => address),
    ];
  }

  async #prepare(): Promise<void> {
    this.#kubectl = await ensureProgram('kubectl');
    const { kubeconfig } = this.#kubernetes;
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    this.#client = new KubeClient({ transport, clock: systemClock });
    this.#networks = await makeGatewayNetworks(this.neutron);
    await fs.writeFile(this.#secretFile(), secret.toString('base64'));
    await Promise.all(pods.map((name) => this.#startWebServer(name)));
    await this.apply(...nodeObjects());
    for (const name of nodeNames) await this.#report('node', name, nodeStatus(name));
  }

  /** Writes a status like a kubelet. */
  async #report(kind: 'node' | 'pod', name: string, status: object): Promise<void> {
    const patch = JSON.stringify({ status });
    await this.kubectl('patch', kind, name, '--subresource=status', '--type=merge', '-p', patch);
  }

  #secretFile(): string {
    return path.join(this.topology.directory, 'controller.secret');
  }

  #settings(layer: Layer): object {
    const { subnets, floatingNetwork, gatewayPorts } = this.#networks ?? {};
    const agents = gateways.map((name, index) => {
      return { name, url: this.#pairWriter[index]?.url, port: gatewayPorts?.get(name) };
    });
    return {
      clusterId,
      kubeconfig: this.#kubernetes.kubeconfig,
      cloud: 'demo',
      defaultProvider: 'gateway',
      driftSeconds: 10,
      observe: { port: 0 },
      log: { level: 'debug', format: 'text' },
      gateway: {
        enabled: true,
        layer,
        portManager: 'openstack',
        subnets,
        floatingNetwork,
        agents,
        fenceAfterSeconds: 5,
        restSeconds: 1,
        secretFile: this.#secretFile(),
      },
    };
  }

  async #startWebServer(pod: PodName): Promise<void> {
    const program = `require('node:http').createServer((_, answer) => answer.end('${pod}')).listen(${podPort}, () => console.log('ready'))`;
    this.topology.start(pod, `web-${pod}`, ['-e', program]);
    const log = this.topology.log(`web-${pod}`);
    await waitFor(`the web server of ${pod}`, async () =>
      (await fs.readFile(log, 'utf8')).includes('ready'),
    );
  }
}
