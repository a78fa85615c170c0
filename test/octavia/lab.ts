import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { CausewayError } from '../../packages/base/src/error/causeway-error.ts';
import { parsePrefix } from '../../packages/base/src/address/prefix.ts';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import type { Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import type { EndpointSlice } from '../../packages/kubernetes/src/objects/network-objects.ts';
import { configMaps, services } from '../../packages/kubernetes/src/objects/resources.ts';
import {
  kuryrLoadBalancers,
  type KuryrLoadBalancer,
} from '../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { readClusterIdentity } from '../../packages/causeway/src/services/cluster-identity.ts';
import {
  OrphanRegister,
  orphanRegisterName,
  readOrphanRegister,
} from '../../packages/causeway/src/services/orphan-register.ts';
import { makeOctaviaProvider } from '../../packages/causeway/src/octavia/make-octavia-provider.ts';
import { octaviaSettings } from '../../packages/causeway/src/octavia/settings.ts';
import { ServiceController } from '../../packages/causeway/src/services/service-controller.ts';
import { Cloud, type CloudOptions } from '../../packages/openstack/src/cloud.ts';
import { cloudConfigFrom } from '../../packages/openstack/src/config/settings.ts';
import { openLoadBalancing } from '../../packages/openstack/src/load-balancing/open.ts';
import { Neutron } from '../../packages/openstack/src/neutron/neutron.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics, type Metrics } from '../../packages/base/src/observability/metrics.ts';
import { accounts } from '../services/openstack/seed.ts';
import { providerForServices } from '../../packages/causeway/src/services/service-provider.ts';

export const never = new AbortController().signal;

/** A running cluster and a running cloud, embedded or real. */
export interface LabParts {
  readonly kubeconfig: string;
  readonly authUrl: string;
  readonly region: string;
  /** Account of the controller; default `demo`. */
  readonly account?: 'demo' | 'admin';
  readonly cloudOptions?: Partial<CloudOptions>;
}

type Settings = z.input<typeof octaviaSettings>;

/** The controller with the octavia provider between a cluster and a cloud, with access to both. */
export class OctaviaLab {
  readonly events: string[] = [];
  readonly client: KubeClient;
  readonly cloud: Cloud;
  readonly #directory: string;
  #stop = new AbortController();
  #ended: Promise<void> | undefined;
  metrics: Metrics = noMetrics;
  quietMs = 20;
  pendingLimitMs: number | undefined;
  privateSubnet = '';
  publicNetwork = '';

  private constructor(client: KubeClient, cloud: Cloud, directory: string) {
    this.client = client;
    this.cloud = cloud;
    this.#directory = directory;
  }

  static async open(parts: LabParts): Promise<OctaviaLab> {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-octavia-'));
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, parts.kubeconfig);
    const clock = systemClock;
    const connection = await findConnection({ kubeconfig, env: {}, clock });
    const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
    const { user, password, domain, project } = accounts[parts.account ?? 'demo'];
    const config = cloudConfigFrom('demo', {
      auth_url: parts.authUrl,
      region_name: parts.region,
      username: user,
      password,
      user_domain_name: domain,
      project_name: project,
      project_domain_name: domain,
    });
    const cloud = new Cloud(config, { log: discardLog, metrics: noMetrics, ...parts.cloudOptions });
    const lab = new OctaviaLab(client, cloud, directory);
    await lab.#findNetworks();
    return lab;
  }

  get neutron(): Neutron {
    return new Neutron(this.cloud.session());
  }

  balancing() {
    return openLoadBalancing(this.cloud.session(), { signal: never });
  }

  async start(settings: Settings = {}, clusterId = 'lab', driftEveryMs = 3_600_000): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const common = { client: this.client, clock: systemClock, log: discardLog, metrics: noMetrics };
    const provider = await makeOctaviaProvider(
      {
        ...common,
        session: this.cloud.session(),
        settings: octaviaSettings.parse({
          enabled: true,
          subnets: [this.privateSubnet],
          floatingNetwork: this.publicNetwork,
          members: 'Pod',
          ...settings,
        }),
        cluster: await readClusterIdentity(clusterId, this.client, signal),
        orphans: this.register(clusterId),
        driftEveryMs,
        quietMs: this.quietMs,
        ...(this.pendingLimitMs === undefined ? {} : { pendingLimitMs: this.pendingLimitMs }),
      },
      signal,
    );
    const controller = new ServiceController({
      ...common,
      providers: { all: [providerForServices(provider)], defaultName: 'octavia' },
      recordEvent: (service, type, reason, message) =>
        this.events.push(`${service.metadata?.name} ${type} ${reason}: ${message}`),
      workers: 16,
    });
    this.#ended = controller.run(signal);
  }

  /** The list of orphans that the controllers of this cluster write. */
  register(clusterId: string): OrphanRegister {
    return new OrphanRegister({
      client: this.client,
      namespace: 'kube-system',
      provider: 'octavia',
      clusterId,
      log: discardLog,
      metrics: this.metrics,
      record: (about, { type, reason, message }) =>
        this.events.push(`${about.metadata?.name} ${type} ${reason}: ${message}`),
    });
  }

  /** Content of the ConfigMap with the orphans, as `causeway orphans list` reads it. */
  async orphans() {
    const name = { namespace: 'kube-system', name: orphanRegisterName };
    const [report] = readOrphanRegister((await this.client.find(configMaps, name)) ?? {});
    return report;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    this.#ended = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.cloud.close();
    await this.client.close();
    await fs.rm(this.#directory, { recursive: true });
  }

  service(name: string): Promise<Service | undefined> {
    return this.client.find(services, { namespace: 'default', name });
  }

  klb(name: string): Promise<KuryrLoadBalancer | undefined> {
    return this.client.find(kuryrLoadBalancers, { namespace: 'default', name });
  }

  async addressOf(name: string): Promise<string | undefined> {
    return (await this.service(name))?.status?.loadBalancer?.ingress?.[0]?.ip;
  }

  /** All load balancers of the project, as a tree of plain values. */
  async balancers() {
    // Several requests are not atomic: when an object is deleted between two of them, all are repeated.
    for (;;) {
      try {
        return await this.#observeBalancers();
      } catch (error) {
        if (CausewayError.from(error).code !== 'not-found') throw error;
      }
    }
  }

  async #observeBalancers() {
    const balancing = await this.balancing();
    const call = { signal: never };
    const all = [];
    for await (const balancer of balancing.loadBalancers({}, call)) {
      const listeners = [];
      for await (const listener of balancing.listeners({ loadBalancerId: balancer.id }, call)) {
        const members = [];
        if (listener.defaultPoolId !== undefined) {
          for await (const member of balancing.members(listener.defaultPoolId, call))
            members.push(member);
        }
        listeners.push({ ...listener, members: byName(members) });
      }
      all.push({ ...balancer, listeners: byName(listeners) });
    }
    return byName(all);
  }

  async floatingIps() {
    const found = [];
    for await (const floating of this.neutron.floatingIps.list({}, { signal: never }))
      found.push(floating);
    return found;
  }

  /** A subnet with the cluster's Service addresses behind the same router, as in Kuryr. */
  async serviceSubnet(): Promise<string> {
    const call = { signal: never };
    const { networkId } = await this.neutron.subnets.get(this.privateSubnet, call);
    const cidr = parsePrefix('10.96.0.0/12');
    const { id } = await this.neutron.subnets.create({ name: 'services', networkId, cidr }, call);
    for await (const router of this.neutron.routers.list({}, call)) {
      await this.neutron.addRouterInterface(router.id, id, call);
    }
    return id;
  }

  async #findNetworks(): Promise<void> {
    const call = { signal: never };
    for await (const network of this.neutron.networks.list({}, call)) {
      if (network.external) this.publicNetwork = network.id;
    }
    for await (const subnet of this.neutron.subnets.list({ name: 'private-v4' }, call)) {
      this.privateSubnet = subnet.id;
    }
  }
}

/** Lists come in the order of random ids. */
function byName<T extends { readonly name: string }>(objects: readonly T[]): T[] {
  return [...objects].sort((left, right) => (left.name < right.name ? -1 : 1));
}

export function newService(
  name: string,
  change: Partial<NonNullable<Service['spec']>> = {},
  annotations = {},
): Service {
  return {
    metadata: { name, namespace: 'default', annotations },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8080 }], ...change },
  };
}

export function newSlice(
  service: string,
  addresses: readonly string[],
  ports: NonNullable<EndpointSlice['ports']> = [{ name: '', port: 8080, protocol: 'TCP' }],
): EndpointSlice {
  return {
    metadata: {
      name: `${service}-1`,
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    endpoints: addresses.map((address, index) => ({
      addresses: [address],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace: 'default', name: `${service}-pod-${index}` },
    })),
    ports,
  };
}

type Seen = Awaited<ReturnType<OctaviaLab['balancers']>>[number];

/** What adoption must not change: everything except the marks that it adds, and the provisioning status. */
export function essenceOf(balancer: Seen): object {
  const still = { provisioningStatus: '', operatingStatus: '' };
  return {
    ...balancer,
    ...still,
    description: '',
    tags: [],
    listeners: balancer.listeners.map((listener) => ({
      ...listener,
      ...still,
      members: listener.members.map((member) => ({ ...member, ...still })),
    })),
  };
}
