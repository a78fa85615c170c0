import type { z } from 'zod';
import type { Node, Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { EventRecorder } from '../../../packages/kubernetes/src/events/event-recorder.ts';
import type { EndpointSlice } from '../../../packages/kubernetes/src/objects/network-objects.ts';
import {
  endpointSlices,
  nodes,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import type { KuryrLoadBalancer } from '../../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { makeOctaviaProvider } from '../../../packages/causeway/src/octavia/make-octavia-provider.ts';
import { octaviaSettings } from '../../../packages/causeway/src/octavia/settings.ts';
import { ServiceController } from '../../../packages/causeway/src/services/service-controller.ts';
import { openLoadBalancing } from '../../../packages/openstack/src/load-balancing/open.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { supervise } from '../../../packages/base/src/work/supervisor.ts';
import { SimulatedWorld, type WorldOptions } from '../world.ts';
import { unsettled } from './invariants.ts';
import { providerForServices } from '../../../packages/causeway/src/services/service-provider.ts';

const driftEveryMs = 60_000;

export interface DesiredService {
  readonly ports?: readonly number[];
  readonly type?: 'LoadBalancer' | 'ClusterIP';
  readonly annotations?: Readonly<Record<string, string>>;
}

type Settings = Partial<z.input<typeof octaviaSettings>>;

/** A cluster and a cloud with Octavia, and controllers that are started and killed. */
export class OctaviaWorld extends SimulatedWorld {
  /** Never fires; owned by the world, so that its listeners are freed with the world. */
  readonly #signal = new AbortController().signal;
  readonly #operator = this.cloud(this.simulation.process('operator'));
  /** Settings of controllers that start from now on. */
  settings: Settings = {};
  #controllers = 0;

  constructor(seed: number, options: WorldOptions = {}) {
    const providers = new Map(['amphora', 'ovn'].map((name) => [name, '']));
    super(seed, { ...options, openstack: { offerings: { providers } } });
  }

  /** Starts a controller in its own process; kill the previous one first. */
  startController(): SimulatedProcess {
    this.#controllers += 1;
    const process = this.simulation.process(`controller ${this.#controllers}`);
    void this.#control(process).catch(() => {});
    return process;
  }

  async #control(process: SimulatedProcess): Promise<void> {
    const { clock } = process;
    const { random } = this.simulation;
    const common = {
      client: this.kubeClient(process),
      clock,
      random,
      log: discardLog,
      metrics: this.metrics,
    };
    const recorder = new EventRecorder({
      ...common,
      component: 'causeway-controller',
      instance: process.name,
    });
    const [subnet] = this.openstack.neutron.subnets
      .all()
      .filter(({ name }) => name === 'private-v4');
    const [network] = this.openstack.neutron.networks.all().filter(({ name }) => name === 'public');
    const provider = await makeOctaviaProvider(
      {
        ...common,
        session: this.cloud(process).session(),
        settings: octaviaSettings.parse({
          enabled: true,
          members: 'Pod',
          subnets: [subnet?.id],
          floatingNetwork: network?.id,
          ...this.settings,
        }),
        cluster: { id: 'simulated', uid: '0fa4a0a2-7b0e-4f5c-9e1a-3a4b5c6d7e8f' },
        driftEveryMs,
      },
      this.#signal,
    );
    const controller = new ServiceController({
      ...common,
      providers: { all: [providerForServices(provider)], defaultName: 'octavia' },
      recordEvent: (service, type, reason, message) =>
        recorder.record(services, service, { type, reason, message }),
      workers: 4,
    });
    await supervise(this.#signal, {
      events: (inner) => recorder.run(inner),
      services: (inner) => controller.run(inner),
    });
  }

  async createService(
    name: string,
    { ports = [80], type = 'LoadBalancer', annotations = {} }: DesiredService = {},
  ): Promise<void> {
    await this.complete(
      this.user.create(services, {
        metadata: { namespace: 'default', name, annotations },
        spec: { type, ports: portsOf(ports) },
      }),
    );
  }

  async patchService(name: string, spec: object): Promise<void> {
    await this.complete(this.user.patchMerge(services, { namespace: 'default', name }, { spec }));
  }

  async deleteService(name: string): Promise<void> {
    await this.complete(this.user.delete(services, { namespace: 'default', name }));
  }

  /** Creates or changes a node with an address of its own number. */
  async setNode(number: number, isReady: boolean): Promise<void> {
    const name = `n${number}`;
    const node: Node = {
      metadata: { name },
      status: {
        addresses: [{ type: 'InternalIP', address: `10.10.2.${number}` }],
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      },
    };
    const isThere = this.nodes().some(({ metadata }) => metadata?.name === name);
    await this.complete(
      isThere
        ? this.user.patchMerge(nodes, { name }, node, { subresource: 'status' })
        : this.user.create(nodes, node),
    );
  }

  nodes(): readonly Node[] {
    return this.kubernetes.cluster.store.list('nodes');
  }

  /** Endpoints on every port that the Service may have. */
  async setEndpoints(name: string, addresses: readonly string[]): Promise<void> {
    const slice: EndpointSlice = {
      metadata: {
        namespace: 'default',
        name: `${name}-1`,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType: 'IPv4',
      endpoints: addresses.map((address) => ({
        addresses: [address],
        conditions: { ready: true },
      })),
      ports: [80, 81, 82].map((port) => ({ name: `p${port}`, port: port + 8000, protocol: 'TCP' })),
    };
    const isThere = this.kubernetes.cluster.store.get(
      'endpointslices.discovery.k8s.io',
      'default',
      `${name}-1`,
    );
    await this.complete(
      isThere === undefined
        ? this.user.create(endpointSlices, slice)
        : this.user.update(endpointSlices, slice),
    );
  }

  /** A user with the project's credentials. */
  async byHand<T>(
    work: (hands: {
      balancing: Awaited<ReturnType<typeof openLoadBalancing>>;
      neutron: Neutron;
      signal: AbortSignal;
    }) => Promise<T>,
  ): Promise<T> {
    const session = this.#operator.session();
    const signal = this.#signal;
    return this.complete(
      openLoadBalancing(session, { signal }).then((balancing) =>
        work({ balancing, neutron: new Neutron(session), signal }),
      ),
    );
  }

  /** Runs until everything is in its desired state; `always` is checked after each step. */
  async settle(always: () => readonly string[] = () => [], maxSteps = 30_000): Promise<void> {
    await this.runUntilSettled(() => unsettled(this), always, maxSteps);
  }

  services(): readonly Service[] {
    const all: readonly Service[] = this.kubernetes.cluster.store.list('services');
    return all.filter(({ metadata }) => metadata?.name !== 'kubernetes');
  }

  klbs(): readonly KuryrLoadBalancer[] {
    return this.kubernetes.cluster.store.list('kuryrloadbalancers.openstack.org');
  }

  slices(): readonly Partial<EndpointSlice>[] {
    const all: readonly Partial<EndpointSlice>[] = this.kubernetes.cluster.store.list(
      'endpointslices.discovery.k8s.io',
    );
    return all.filter(({ metadata }) => metadata?.name !== 'kubernetes');
  }
}

export function portsOf(ports: readonly number[]) {
  return ports.map((port) => ({ name: `p${port}`, port }));
}
