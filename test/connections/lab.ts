import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import type { Service } from '../../packages/fake-kubernetes/src/resources/service/service-type.ts';
import { openAgentForwarder, type AgentForwarder } from '../cluster/gateway/agent-forwarder.ts';
import { gateways, secret, Topology, type GatewayName } from '../kernel/gateway/topology.ts';
import { logTail, startServiceProcess, type ServiceProcess } from '../services/service-process.ts';
import type { Forwarder } from '../services/tcp-forwarder.ts';
import { waitFor } from '../services/wait-for.ts';
import { Kubelet } from './kubelet.ts';
import {
  buildNodes,
  createNodeObjects,
  nodeName,
  podNodes,
  routeOnGateway,
  startNodeProxies,
} from './nodes.ts';
import { PodMachine, podPorts } from './pod-machine.ts';
import { firstReplicas } from './schedule.ts';

export type Layer = 'NodePort' | 'ClusterIP' | 'Pod';

export interface LabOptions {
  readonly layer: Layer;
  readonly preStopSeconds: number;
  readonly messageMs: number;
  readonly stallMs: number;
}

/** The Services of the lab. The pods' second port is behind two of them. */
export const serviceNames = ['web', 'shared-a', 'shared-b'] as const;
export type ServiceName = (typeof serviceNames)[number];
const main = path.join(import.meta.dirname, '../../packages/causeway/src/cli/main.ts');
const { signal } = new AbortController();

/**
 * Two gateways with real agents, keepalived and nftables, and nodes with Causeway's proxy, all in namespaces.
 * The controller runs as a process of its own. The API server, its controllers and the kubelets are embedded.
 */
export class ConnectionsLab {
  readonly topology: Topology;
  readonly kubernetes: EmbeddedKubernetes;
  readonly kubelet: Kubelet;
  readonly machines: ReadonlyMap<string, PodMachine>;
  readonly #options: LabOptions;
  #forwarders: (Forwarder | AgentForwarder)[] = [];
  #controller: ServiceProcess | undefined;

  private constructor(topology: Topology, kubernetes: EmbeddedKubernetes, options: LabOptions) {
    this.topology = topology;
    this.kubernetes = kubernetes;
    this.#options = options;
    this.machines = new Map(
      podNodes.map((number) => [nodeName(number), new PodMachine(topology, number)]),
    );
    this.kubelet = new Kubelet(kubernetes.cluster, this.machines, options.preStopSeconds);
  }

  static async start(options: LabOptions): Promise<ConnectionsLab> {
    const topology = await Topology.start();
    const kubernetes = await startEmbeddedKubernetes({ controllers: { schedulesPods: true } });
    const lab = new ConnectionsLab(topology, kubernetes, options);
    try {
      await lab.#prepare();
      return lab;
    } catch (error) {
      await lab.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.kubelet.close();
    await this.#controller?.stop();
    for (const forwarder of this.#forwarders) await forwarder.close();
    await this.topology.stop();
    await this.kubernetes.stop();
  }

  /** Virtual addresses, node ports and the port of a Service. */
  frontendOf(name: ServiceName): {
    readonly addresses: readonly string[];
    readonly port: number;
    readonly nodePort: number;
  } {
    const { spec, status } = this.#service(name);
    const [port] = spec.ports ?? [];
    return {
      addresses: (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),
      port: port?.port ?? 0,
      nodePort: port?.nodePort ?? 0,
    };
  }

  /** Boots a gateway that had lost its power. */
  async bootGateway(name: GatewayName): Promise<void> {
    await this.topology.restoreMachine(name);
    await routeOnGateway(this.topology, name);
    await this.topology.startAgent(name);
  }

  /** Waits until one gateway is active and the other one can take over with the same desired state. */
  async bothGateways(): Promise<void> {
    await waitFor('an active and a standby gateway with one generation', async () => {
      const states = await Promise.all(
        gateways.map((name) => this.topology.client(name).status(signal)),
      );
      const roles = states.map(({ announcer }) => announcer.role).sort();
      const generations = new Set(states.map(({ generation }) => generation));
      return roles.join() === 'active,standby' && generations.size === 1;
    });
  }

  #service(name: ServiceName): Service {
    return this.kubernetes.cluster.store.get('services', 'default', name) as Service;
  }

  async #prepare(): Promise<void> {
    const { topology, kubernetes } = this;
    const { messageMs, stallMs } = this.#options;
    await buildNodes(topology);
    for (const name of gateways) await routeOnGateway(topology, name);
    for (const machine of this.machines.values()) await machine.start(messageMs, stallMs);
    createNodeObjects(kubernetes.cluster);
    this.#createWorkload();
    const kubeconfig = path.join(topology.directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
    this.#forwarders.push(await startNodeProxies(topology, { url: kubernetes.url, kubeconfig }));
    await topology.startAgents({ probe: { intervalMs: 500 } });
    await this.#startController(kubeconfig);
    await waitFor('the Services to be served', () => {
      const unserved = serviceNames.filter((name) => !isServed(this.#service(name)));
      if (unserved.length === 0) return true;
      throw new Error(`${unserved.join()}: ${logTail(topology.log('controller'))}`);
    });
    await this.bothGateways();
  }

  #createWorkload(): void {
    const { cluster } = this.kubernetes;
    const labels = { app: 'web' };
    const metadata = { namespace: 'default' };
    cluster.create('deployments.apps', {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { ...metadata, name: 'web' },
      spec: {
        replicas: firstReplicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [{ name: 'web', image: 'web' }],
            terminationGracePeriodSeconds: 60,
          },
        },
      },
    });
    for (const [index, name] of serviceNames.entries()) {
      const targetPort = podPorts[Math.min(index, 1)];
      cluster.create('services', {
        ...{ apiVersion: 'v1', kind: 'Service' },
        metadata: { ...metadata, name },
        spec: {
          type: 'LoadBalancer',
          ipFamilyPolicy: 'RequireDualStack',
          selector: labels,
          ports: [{ name: 'main', port: 80 + index, targetPort }],
        },
      });
    }
  }

  async #startController(kubeconfig: string): Promise<void> {
    const { directory } = this.topology;
    const agents: { name: string; url: string }[] = [];
    for (const name of gateways) {
      const forwarder = await openAgentForwarder(this.topology.runtimeFile(name, 'api.sock'));
      this.#forwarders.push(forwarder);
      agents.push({ name, url: forwarder.url });
    }
    const secretFile = path.join(directory, 'controller.secret');
    await fs.writeFile(secretFile, secret.toString('base64'));
    const settings = {
      kubeconfig,
      defaultProvider: 'gateway',
      leaderElection: { enabled: false },
      observe: { port: 0 },
      log: { level: 'debug', format: 'text' },
      gateway: {
        enabled: true,
        layer: this.#options.layer,
        portManager: 'static',
        addresses: ['10.77.1.1-10.77.1.9', '2001:db8:77::1:1-2001:db8:77::1:9'],
        agents,
        secretFile,
      },
    };
    const config = path.join(directory, 'controller.yaml');
    await fs.writeFile(config, stringify(settings));
    this.#controller = startServiceProcess(process.execPath, [main, 'controller', '-c', config], {
      logFile: this.topology.log('controller'),
    });
  }
}

function isServed({ status }: Service): boolean {
  const conditions = (status?.conditions ?? []) as readonly { readonly status?: string }[];
  return conditions.some((condition) => condition.status === 'True');
}
