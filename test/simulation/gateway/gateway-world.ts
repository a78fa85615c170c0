import type { Family } from '../../../packages/base/src/address/address.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { isErrorCode } from '../../../packages/base/src/error/causeway-error.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { runAsLeader } from '../../../packages/kubernetes/src/lease/leader-election.ts';
import { EventRecorder } from '../../../packages/kubernetes/src/events/event-recorder.ts';
import type {
  Service,
  ServiceSpec,
} from '../../../packages/kubernetes/src/objects/core-objects.ts';
import type { ObjectName } from '../../../packages/kubernetes/src/objects/object.ts';
import { namespaces, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import type { AgentClient } from '../../../packages/causeway/src/gateway/controller/fleet/agent-client-contract.ts';
import {
  legacyManagedAnnotation,
  legacyPortAnnotation,
} from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import { ConfigMapAddressRecords } from '../../../packages/causeway/src/gateway/controller/ports/address-records.ts';
import { leaseGuardedAgent } from '../../../packages/causeway/src/gateway/controller/fleet/lease-guarded-agent.ts';
import { GatewayConfigMap } from '../../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import { OpenStackAddressPairWriter } from '../../../packages/causeway/src/gateway/controller/fencing/openstack-address-pair-writer.ts';
import { makeGatewayProvider } from '../../../packages/causeway/src/gateway/controller/make-gateway-provider.ts';
import { MemoryAgent } from '../../../packages/causeway/src/gateway/controller/fleet/testing/memory-agent.ts';
import { OpenStackPortManager } from '../../../packages/causeway/src/gateway/controller/ports/openstack-port-manager.ts';
import { configMapPortRecords } from '../../../packages/causeway/src/gateway/controller/ports/port-records.ts';
import type { PortManager } from '../../../packages/causeway/src/gateway/controller/ports/port-manager.ts';
import { parseStaticAddresses } from '../../../packages/causeway/src/gateway/controller/ports/static-addresses.ts';
import { StaticPortManager } from '../../../packages/causeway/src/gateway/controller/ports/static-port-manager.ts';
import type { Annotations } from '../../../packages/causeway/src/services/provider.ts';
import { ServiceController } from '../../../packages/causeway/src/services/service-controller.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import type { Subnet } from '../../../packages/openstack/src/neutron/resources.ts';
import type { Clock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { supervise } from '../../../packages/base/src/work/supervisor.ts';
import type { LeaseGuard } from '../../../packages/base/src/work/lease-guard.ts';
import { clusterId, clusterUid, unsettled } from './invariants.ts';
import { untilAborted } from '../../../packages/base/src/time/until-aborted.ts';
import { SimulatedWorld, type WorldOptions } from '../world.ts';
import { eventType } from '../../../packages/causeway/src/cli/event-definitions.ts';
import { providerForServices } from '../../../packages/causeway/src/services/service-provider.ts';

export const driftEveryMs = 300_000;

export interface GatewayWorldOptions extends WorldOptions {
  readonly workers?: number;
  readonly gateways?: number;
  readonly driftEveryMs?: number;
  readonly resyncEveryMs?: number;
  /** Whether Neutron has to allow addresses for gateways, and in which mode. */
  readonly pairWriter?: 'network' | 'single';
  readonly fenceAfterMs?: number;
  readonly restMs?: number;
  readonly keepWayBack?: boolean;
  /** Addresses of a list instead of Neutron's. */
  readonly isStatic?: boolean;
  /** Whether the gateways have IPv6 addresses, too. */
  readonly isDualStack?: boolean;
}

/** They include the addresses that Services request, in both kinds of worlds. */
const staticRanges = ['10.10.200.1-10.10.200.40', 'fd00:10::1-fd00:10::40'].map(
  parseStaticAddresses,
);

export interface DesiredService {
  readonly namespace?: string;
  readonly ports?: readonly number[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<ServiceSpec>;
}

/** A cluster, a cloud with floating IPs and some gateways, and controllers that are started and killed. */
export class GatewayWorld extends SimulatedWorld {
  readonly agents: ReadonlyMap<string, MemoryAgent>;
  readonly #workers: number;
  /** The gateways' own Neutron ports, if the network has port security. */
  readonly gatewayPorts = new Map<string, string>();
  readonly #options: GatewayWorldOptions;
  readonly #pace: { readonly driftEveryMs: number; readonly resyncEveryMs?: number };
  readonly #operator: Neutron;
  readonly #subnets = new Map<Family, Subnet>();
  #floatingNetwork = '';
  #controllers = 0;

  private constructor(seed: number, options: GatewayWorldOptions) {
    super(seed, options);
    const { workers = 4, gateways = 2 } = options;
    this.#options = options;
    this.#workers = workers;
    this.#pace = {
      driftEveryMs: options.driftEveryMs ?? driftEveryMs,
      ...(options.resyncEveryMs === undefined ? {} : { resyncEveryMs: options.resyncEveryMs }),
    };
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
    if (subnet === undefined) throw new Error('the cloud has no subnet');
    world.#subnets.set(4, subnet);
    world.#floatingNetwork = external?.id ?? '';
    await world.ensureNamespace('kube-system');
    for (const name of options.pairWriter === undefined ? [] : world.agents.keys()) {
      const own = { name, networkId: subnet.networkId, portSecurityEnabled: true };
      const { id } = await world.complete(neutron.ports.create(own, { signal }));
      world.gatewayPorts.set(name, id);
    }
    if (options.isDualStack === true) {
      const { networkId } = subnet;
      const six = { name: 'private-v6', networkId, cidr: parsePrefix('fd00:10::/64') };
      world.#subnets.set(6, await world.complete(neutron.subnets.create(six, { signal })));
    }
    return world;
  }

  /** Starts a controller in its own process; kill the previous one first. */
  startController(): SimulatedProcess {
    const process = this.#newProcess();
    void this.#control(process, this.kubeClient(process), new AbortController().signal);
    return process;
  }

  /** Starts a controller that works only while it holds the lease. `stop` ends it gracefully. */
  startCandidate(): { readonly process: SimulatedProcess; stop(): void } {
    const process = this.#newProcess();
    const client = this.kubeClient(process);
    const stop = new AbortController();
    const { clock, name: identity } = process;
    const { random } = this.simulation;
    const lease = { namespace: 'kube-system', name: 'causeway-controller' };
    const leading = runAsLeader(
      { client, lease, identity, clock, random, log: discardLog, metrics: this.metrics },
      (leadership, inner) =>
        this.#control(process, client.withLeaseGuard(leadership), inner, leadership),
      stop.signal,
    );
    // A candidate that was stopped, or that failed, ends. After a lost lease it is a candidate again.
    void leading.catch(() => {}).then(() => process.kill());
    return { process, stop: () => stop.abort() };
  }

  #newProcess(): SimulatedProcess {
    this.#controllers += 1;
    return this.simulation.process(`controller ${this.#controllers}`);
  }

  async #control(
    process: SimulatedProcess,
    client: KubeClient,
    signal: AbortSignal,
    fence?: LeaseGuard,
  ) {
    const { clock } = process;
    const { random } = this.simulation;
    const common = { client, clock, random, log: discardLog, metrics: this.metrics };
    const recorder = new EventRecorder({
      ...common,
      component: 'causeway-controller',
      eventType,
      instance: process.name,
    });
    const agents = [...this.agents].map(([name, agent]) => {
      const link = overWire(process, name, agent);
      return [name, fence === undefined ? link : leaseGuardedAgent(link, fence, clock)] as const;
    });
    const neutron = new Neutron(this.cloud(process, fence).session());
    const provider = makeGatewayProvider({
      ...common,
      manager: this.#portManager(neutron, client, clock),
      agents: new Map(agents),
      layer: 'ClusterIP',
      masquerade: 'needed',
      keepWayBack: this.#options.keepWayBack ?? false,
      ...this.#pace,
      ...this.#pairWriter(neutron),
      configMap: new GatewayConfigMap({ ...common, namespace: 'kube-system' }),
    });
    const controller = new ServiceController({
      ...common,
      providers: { all: [providerForServices(provider)], defaultName: 'gateway' },
      recordEvent: (service, reason, message) =>
        recorder.record(services, service, { reason, message }),
      workers: this.#workers,
    });
    await supervise(signal, {
      events: (inner) => recorder.run(inner),
      services: (inner) => controller.run(inner),
    });
  }

  /** Creates a Service of type LoadBalancer, like a user. */
  async createService(name: string, options: DesiredService = {}): Promise<void> {
    const { namespace = 'default', ports = [80], annotations = {}, spec = {} } = options;
    await this.ensureNamespace(namespace);
    await this.complete(
      this.user.create(services, {
        metadata: { namespace, name, annotations },
        spec: {
          type: 'LoadBalancer',
          ports: ports.map((port) => ({ name: `p${port}`, port })),
          ...spec,
        },
      }),
    );
  }

  async patchService(name: string, spec: object, namespace = 'default'): Promise<void> {
    await this.#asUser(this.user.patchMerge(services, { namespace, name }, { spec }));
  }

  async annotateService(name: ObjectName, annotations: Annotations): Promise<void> {
    await this.#asUser(this.user.patchMerge(services, name, { metadata: { annotations } }));
  }

  async deleteService(name: string, namespace = 'default'): Promise<void> {
    await this.#asUser(this.user.delete(services, { namespace, name }));
  }

  /** A user removes the finalizers of the Service before it is cleaned up. */
  async forceFinalizers(name: ObjectName): Promise<void> {
    const metadata = { finalizers: null };
    await this.#asUser(this.user.patchMerge(services, name, { metadata }));
  }

  /** Ignores that the object was deleted in the meantime. */
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

  /** An operator deletes a port, and its floating IP with it. */
  async losePort(id: string): Promise<void> {
    const { signal } = new AbortController();
    for (const row of this.openstack.neutron.floatingIps.all()) {
      if (row.port_id !== id) continue;
      await this.complete(this.#operator.floatingIps.delete(row.id, { signal }));
    }
    await this.complete(this.#operator.ports.delete(id, { signal }));
  }

  /** An operator deletes a floating IP; its port stays. */
  async loseFloatingIp(id: string): Promise<void> {
    const { signal } = new AbortController();
    await this.complete(this.#operator.floatingIps.delete(id, { signal }));
  }

  /** Limits the project to its current number of these; undefined removes the limits. */
  limit(what: 'port' | 'floatingip' | undefined): void {
    const { neutron } = this.openstack;
    const project = neutron.subnets.all().find(({ name }) => name === 'private-v4')?.project_id;
    if (project === undefined) throw new Error('the cloud has no subnet');
    if (what === undefined) {
      neutron.quotas.delete(project);
      return;
    }
    const rows = what === 'port' ? neutron.ports.all() : neutron.floatingIps.all();
    const used = rows.filter(({ project_id }) => project_id === project).length;
    neutron.quotas.set(project, { ...neutron.defaultQuotas, [what]: used });
  }

  /** Runs until everything is in its desired state; `always` is checked after each step. */
  async settle(
    always: () => readonly string[],
    also: () => readonly string[] = () => [],
  ): Promise<void> {
    await this.runUntilSettled(() => [...unsettled(this), ...also()], always, 20_000);
  }

  /** The current Services, without a request. */
  services(): readonly Service[] {
    return this.kubernetes.cluster.store.list('services');
  }

  /** One of them, in the namespace default. */
  service(name: string): Service | undefined {
    return this.kubernetes.cluster.store.get('services', 'default', name);
  }

  /** Whether addresses come from a list. */
  get isStatic(): boolean {
    return this.#options.isStatic === true;
  }

  #portManager(neutron: Neutron, client: KubeClient, clock: Clock): PortManager {
    if (this.isStatic) {
      const records = new ConfigMapAddressRecords({ client, clock, namespace: 'kube-system' });
      return new StaticPortManager({ ranges: staticRanges }, records);
    }
    return new OpenStackPortManager({
      neutron,
      cluster: { id: clusterId, uid: clusterUid },
      records: configMapPortRecords({ client, clock, namespace: 'kube-system' }),
      subnets: this.#subnets,
      floating: { networkId: this.#floatingNetwork },
      keepWayBack: this.#options.keepWayBack ?? false,
    });
  }

  #pairWriter(neutron: Neutron) {
    const { pairWriter: mode, fenceAfterMs, restMs } = this.#options;
    const pace = {
      ...(fenceAfterMs === undefined ? {} : { fenceAfterMs }),
      ...(restMs === undefined ? {} : { restMs }),
    };
    if (mode === undefined) return pace;
    const networks = [...this.#subnets.values()].map(({ cidr }) => cidr);
    const ports = this.gatewayPorts;
    return {
      ...pace,
      pairWriter: new OpenStackAddressPairWriter({ neutron, mode, limit: 10, networks, ports }),
    };
  }

  /** A Service as ch-k8s-lbaas leaves it: a port with a floating IP, annotations, a status. */
  async createInherited(name: string, port: number): Promise<void> {
    const { signal } = new AbortController();
    const subnet = this.#subnets.get(4);
    if (subnet === undefined) throw new Error('the cloud has no subnet');
    const neutron = this.#operator;
    const description = 'Managed by cah-loadbalancer';
    const making = neutron.ports.create(
      {
        name: `lbaas-${name}`,
        description,
        networkId: subnet.networkId,
        fixedIps: [{ subnetId: subnet.id }],
        portSecurityEnabled: false,
      },
      { signal },
    );
    const { id } = await this.complete(making);
    await this.complete(neutron.ports.replaceTags(id, [legacyManagedAnnotation], { signal }));
    const { id: floatingId, address } = await this.complete(
      neutron.floatingIps.create(
        { description, floatingNetworkId: this.#floatingNetwork, portId: id },
        { signal },
      ),
    );
    const tags = [legacyManagedAnnotation];
    await this.complete(neutron.floatingIps.replaceTags(floatingId, tags, { signal }));
    const annotations = { [legacyManagedAnnotation]: 'true', [legacyPortAnnotation]: id };
    await this.createService(name, { ports: [port], annotations });
    const status = { loadBalancer: { ingress: [{ ip: address }] } };
    const object = { namespace: 'default', name };
    await this.#asUser(
      this.user.patchMerge(services, object, { status }, { subresource: 'status' }),
    );
  }
}

/**
 * The connection to a gateway is one of the outside calls. A hung gateway, even if it hangs since the call
 * began, never answers; the simulation continues.
 */
function overWire(process: SimulatedProcess, name: string, agent: MemoryAgent): AgentClient {
  const never = new Promise<never>(() => {});
  const call = async <T>(
    verb: string,
    signal: AbortSignal,
    effect: () => Promise<T>,
  ): Promise<T> => {
    if (agent.mode === 'hangs') return untilAborted(never, signal);
    const answer = await process.call(`${verb} agent ${name}`, async () => {
      if (agent.mode === 'hangs') return undefined;
      const value = await effect();
      return agent.mode === 'mute' ? undefined : { value };
    });
    return answer === undefined ? untilAborted(never, signal) : answer.value;
  };
  return {
    status: (signal) => call('ASK', signal, () => agent.status(signal)),
    events: (signal) => agent.events(signal),
    sendUnhealthy: (unhealthy, signal) =>
      call('HAND', signal, () => agent.sendUnhealthy(unhealthy, signal)),
    push: (lines, signal) => call('PUSH', signal, () => agent.push([...lines], signal)),
    confirmRemovals: (confirmation, signal) =>
      call('CONFIRM', signal, () => agent.confirmRemovals(confirmation, signal)),
  };
}
