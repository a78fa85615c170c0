import { isErrorCode } from '../../../src/domain/error.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { runAsLeader } from '../../../src/kube/leader-election.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import type { Service } from '../../../src/kube/core-objects.ts';
import type { ObjectName } from '../../../src/kube/object.ts';
import { namespaces, services } from '../../../src/kube/resources.ts';
import type { AgentPort } from '../../../src/loadbalancer/gateway/agent-link.ts';
import { makeGatewayProvider } from '../../../src/loadbalancer/gateway/make-gateway-provider.ts';
import { MemoryAgent } from '../../../src/loadbalancer/gateway/memory-agent.ts';
import { OpenStackPortManager } from '../../../src/loadbalancer/gateway/openstack-port-manager.ts';
import { ServiceController } from '../../../src/loadbalancer/service-controller.ts';
import { collect } from '../../../src/openstack/collect.ts';
import { Neutron } from '../../../src/openstack/neutron/neutron.ts';
import type { Subnet } from '../../../src/openstack/neutron/resources.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { noMetrics } from '../../../src/runtime/metrics.ts';
import type { SimulatedProcess } from '../../../src/runtime/simulation.ts';
import { supervise } from '../../../src/runtime/supervisor.ts';
import { clusterId, unsettled } from './invariants.ts';
import { untilAborted } from '../until-aborted.ts';
import { SimulatedWorld, type WorldOptions } from '../world.ts';

export const driftEveryMs = 300_000;

export interface GatewayWorldOptions extends WorldOptions {
  readonly workers?: number;
  readonly gateways?: number;
  readonly driftEveryMs?: number;
}

export interface ServiceWish {
  readonly namespace?: string;
  readonly ports?: readonly number[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A cluster, a cloud with floating IPs and some gateways, and controllers that come and go. */
export class GatewayWorld extends SimulatedWorld {
  readonly agents: ReadonlyMap<string, MemoryAgent>;
  readonly #workers: number;
  readonly #driftEveryMs: number;
  readonly #operator: Neutron;
  #subnet: Subnet | undefined;
  #floatingNetwork = '';
  #controllers = 0;

  private constructor(seed: number, options: GatewayWorldOptions) {
    super(seed, options);
    const { workers = 4, gateways = 2 } = options;
    this.#workers = workers;
    this.#driftEveryMs = options.driftEveryMs ?? driftEveryMs;
    this.#operator = new Neutron(this.cloud(this.simulation.process('operator')).session());
    this.agents = new Map(
      Array.from({ length: gateways }, (_, index) => [`g${index + 1}`, new MemoryAgent()]),
    );
  }

  static async create(seed: number, options: GatewayWorldOptions = {}): Promise<GatewayWorld> {
    const world = new GatewayWorld(seed, options);
    const { signal } = new AbortController();
    const neutron = world.#operator;
    const [subnet] = await world.complete(
      collect(neutron.subnets.list({ name: 'private-v4' }, { signal })),
    );
    const [external] = await world.complete(
      collect(neutron.networks.list({ external: true }, { signal })),
    );
    world.#subnet = subnet;
    world.#floatingNetwork = external?.id ?? '';
    return world;
  }

  /** Starts a controller in a process of its own; kill the one before first. */
  startController(): SimulatedProcess {
    const process = this.#newProcess();
    void this.#control(process, this.kubeClient(process), new AbortController().signal);
    return process;
  }

  /** Starts one that works only while it holds the lease. `stop` ends it properly. */
  startCandidate(): { readonly process: SimulatedProcess; stop(): void } {
    const process = this.#newProcess();
    const client = this.kubeClient(process);
    const stop = new AbortController();
    const { clock, name: identity } = process;
    const { random } = this.simulation;
    const lease = { namespace: 'kube-system', name: 'causeway-controller' };
    void runAsLeader(
      { client, lease, identity, clock, random, log: silentLog, metrics: noMetrics },
      (leadership, inner) => this.#control(process, client.withFence(leadership), inner),
      stop.signal,
    );
    return { process, stop: () => stop.abort() };
  }

  #newProcess(): SimulatedProcess {
    this.#controllers += 1;
    return this.simulation.process(`controller ${this.#controllers}`);
  }

  async #control(process: SimulatedProcess, client: KubeClient, signal: AbortSignal) {
    const { clock } = process;
    const { random } = this.simulation;
    const common = { client, clock, random, log: silentLog, metrics: noMetrics };
    const recorder = new EventRecorder({
      ...common,
      component: 'causeway-controller',
      instance: process.name,
    });
    const agents = [...this.agents].map(
      ([name, agent]) => [name, overWire(process, name, agent)] as const,
    );
    const provider = makeGatewayProvider({
      ...common,
      manager: this.#portManager(process),
      agents: new Map(agents),
      layer: 'ClusterIP',
      masquerade: 'needed',
      keepWayBack: false,
      driftEveryMs: this.#driftEveryMs,
    });
    const controller = new ServiceController({
      ...common,
      providers: { all: [provider], defaultName: 'gateway' },
      tell: (service, type, reason, message) =>
        recorder.record(services, service, { type, reason, message }),
      workers: this.#workers,
    });
    await supervise(signal, {
      events: (inner) => recorder.run(inner),
      services: (inner) => controller.run(inner),
    });
  }

  /** Makes a Service of type LoadBalancer, as a user would. */
  async createService(name: string, options: ServiceWish = {}): Promise<void> {
    const { namespace = 'default', ports = [80], annotations = {} } = options;
    await this.ensureNamespace(namespace);
    await this.complete(
      this.user.create(services, {
        metadata: { namespace, name, annotations },
        spec: {
          type: 'LoadBalancer',
          ports: ports.map((port) => ({ name: `p${port}`, port })),
        },
      }),
    );
  }

  async patchService(name: string, spec: object, namespace = 'default'): Promise<void> {
    await this.#asUser(this.user.patchMerge(services, { namespace, name }, { spec }));
  }

  async deleteService(name: string, namespace = 'default'): Promise<void> {
    await this.#asUser(this.user.delete(services, { namespace, name }));
  }

  /** Somebody takes away what holds the Service until it is cleaned up. */
  async forceFinalizers(name: ObjectName): Promise<void> {
    const metadata = { finalizers: null };
    await this.#asUser(this.user.patchMerge(services, name, { metadata }));
  }

  /** Somebody who comes too late for an object: it is gone by then. */
  async #asUser(work: Promise<unknown>): Promise<void> {
    const forgiving = work.catch((error: unknown) => {
      if (!isErrorCode(error, 'not-found')) throw error;
    });
    await this.complete(forgiving);
  }

  async ensureNamespace(name: string): Promise<void> {
    const present = this.kubernetes.cluster.store.get('namespaces', undefined, name);
    if (present === undefined) {
      await this.complete(this.user.create(namespaces, { metadata: { name } }));
    }
  }

  /** Somebody deletes a port by hand, and its floating IP with it. */
  async losePort(id: string): Promise<void> {
    const { signal } = new AbortController();
    for (const row of this.openstack.neutron.floatingIps.all()) {
      if (row.port_id !== id) continue;
      await this.complete(this.#operator.floatingIps.delete(row.id, { signal }));
    }
    await this.complete(this.#operator.ports.delete(id, { signal }));
  }

  /** Somebody deletes a floating IP by hand; its port stays. */
  async loseFloatingIp(id: string): Promise<void> {
    const { signal } = new AbortController();
    await this.complete(this.#operator.floatingIps.delete(id, { signal }));
  }

  /** Runs until everything is as it should be; `always` is asked after each step. */
  async settle(always: () => readonly string[], maxSteps = 20_000): Promise<void> {
    await this.runUntilSettled(() => unsettled(this), always, maxSteps);
  }

  /** The Services as they are, without asking anybody. */
  services(): readonly Service[] {
    return this.kubernetes.cluster.store.list('services');
  }

  #portManager(process: SimulatedProcess): OpenStackPortManager {
    if (this.#subnet === undefined) throw new Error('the cloud has no subnet');
    return new OpenStackPortManager({
      neutron: new Neutron(this.cloud(process).session()),
      clusterId,
      subnets: new Map([[4, this.#subnet]]),
      floating: { networkId: this.#floatingNetwork },
    });
  }
}

/** The way to a gateway is one of the outside calls. To one that hangs, the call never takes place. */
function overWire(process: SimulatedProcess, name: string, agent: MemoryAgent): AgentPort {
  const call = <T>(verb: string, signal: AbortSignal, effect: () => Promise<T>): Promise<T> =>
    agent.mode === 'hangs'
      ? untilAborted(new Promise<T>(() => {}), signal)
      : process.call(`${verb} agent ${name}`, effect);
  return {
    status: (signal) => call('ASK', signal, () => agent.status(signal)),
    events: (signal) => agent.events(signal),
    handSilent: (silent, signal) => call('HAND', signal, () => agent.handSilent(silent, signal)),
    push: (lines, signal) => call('PUSH', signal, () => agent.push([...lines], signal)),
  };
}
