import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { configMaps, services } from '@causeway/kubernetes/objects/resources';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics, type Metrics } from '@causeway/base/observability/metrics';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import {
  OrphanRegister,
  orphanRegisterName,
  readOrphanRegister,
  type RegisteredReport,
} from '../../services/orphan-register.ts';
import { ServiceController } from '../../services/service-controller.ts';
import { ConfigMapAddressRecords } from './ports/address-records.ts';
import { GatewayConfigMap } from './gateway-config-map.ts';
import { makeGatewayProvider } from './make-gateway-provider.ts';
import { MemoryAgent } from './fleet/testing/memory-agent.ts';
import type { BackendLayer } from '../../services/backend-layer.ts';
import {
  GuardRegister,
  guardRegisterName,
  readGuardRegister,
} from '../../services/guard-register.ts';
import type { PortManager } from './ports/port-manager.ts';
import { StaticPortManager } from './ports/static-port-manager.ts';
import { eventType } from '../../cli/event-definitions.ts';
import { providerForServices } from '../../services/service-provider.ts';
import { parseStaticAddresses } from './ports/static-addresses.ts';

export const named = (name: string) => ({ namespace: 'default', name });

export const newService = (name: string, port = 80, annotations = {}): Service => ({
  metadata: { ...named(name), annotations },
  spec: { type: 'LoadBalancer', ports: [{ port }] },
});

export const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

/**
 * The embedded Kubernetes API, two gateways in memory, a list of addresses, and controllers that can be
 * restarted.
 */
export class ProviderLab {
  readonly client: KubeClient;
  readonly agents = [new MemoryAgent(), new MemoryAgent()] as const;
  /** The Events of all controllers so far. */
  readonly events: string[] = [];
  /** The list of addresses, from the next controller on. */
  addresses: readonly string[] = ['192.0.2.1-192.0.2.3'];
  retiring: readonly string[] = [];
  /** The gateways without session affinity, from the next controller on. */
  withoutAffinity: readonly string[] = [];
  defaultProvider: string | undefined = 'gateway';
  /** The port manager, from the next controller on; by default the list. */
  manager: (() => PortManager) | undefined;
  driftEveryMs = 60_000;
  /** The backend layer, from the next controller on. */
  layer: BackendLayer = 'Pod';
  /** The connections with rewritten sources, from the next controller on. */
  masquerade: 'always' | 'needed' = 'needed';
  metrics: Metrics = noMetrics;
  readonly #kubernetes: EmbeddedKubernetes;
  readonly #directory: string;
  #stop = new AbortController();
  #ended: Promise<void> | undefined;

  private constructor(kubernetes: EmbeddedKubernetes, directory: string, client: KubeClient) {
    this.#kubernetes = kubernetes;
    this.#directory = directory;
    this.client = client;
  }

  static async start(): Promise<ProviderLab> {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-gateway-'));
    const kubernetes = await startEmbeddedKubernetes();
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    return new ProviderLab(
      kubernetes,
      directory,
      new KubeClient({ transport, clock: systemClock }),
    );
  }

  async close(): Promise<void> {
    await this.stopController();
    await this.client.close();
    await this.#kubernetes.stop();
    await fs.rm(this.#directory, { recursive: true });
  }

  startController(): void {
    this.#stop = new AbortController();
    const { client } = this;
    const common = { client, clock: systemClock, log: discardLog, metrics: noMetrics };
    const guards = this.#guards();
    const records = new ConfigMapAddressRecords({ ...common, namespace: 'kube-system' });
    const provider = makeGatewayProvider({
      ...common,
      manager:
        this.manager?.() ??
        new StaticPortManager(
          {
            ranges: this.addresses.map(parseStaticAddresses),
            retiring: this.retiring.map(parseStaticAddresses),
          },
          records,
        ),
      orphans: this.#register(),
      agents: new Map(this.agents.map((agent, index) => [`g${index + 1}`, agent])),
      layer: this.layer,
      guards,
      masquerade: this.masquerade,
      keepWayBack: false,
      withoutAffinity: this.withoutAffinity,
      driftEveryMs: this.driftEveryMs,
      configMap: new GatewayConfigMap({ ...common, namespace: 'kube-system' }),
      restMs: 0,
    });
    const controller = new ServiceController({
      ...common,
      providers: { all: [providerForServices(provider)], defaultName: this.defaultProvider },
      recordEvent: (_service, reason, message) =>
        this.events.push(`${eventType(reason)} ${reason}: ${message}`),
      workers: 4,
    });
    const { signal } = this.#stop;
    this.#ended = Promise.all([controller.run(signal), guards.run(signal)]).then(() => {});
  }

  #guards(): GuardRegister {
    return new GuardRegister({
      client: this.client,
      namespace: 'kube-system',
      clock: systemClock,
      log: discardLog,
      metrics: this.metrics,
      record: (_about, { reason, message }) =>
        this.events.push(`${eventType(reason)} ${reason}: ${message}`),
    });
  }

  /** What the guards hold back, as `causeway status` reads it. */
  async guarded(): Promise<string> {
    const name = { namespace: 'kube-system', name: guardRegisterName };
    const entries = readGuardRegister((await this.client.find(configMaps, name)) ?? {});
    return entries.map(({ guard, message }) => `${guard}: ${message}`).join('\n');
  }

  #register(): OrphanRegister {
    return new OrphanRegister({
      client: this.client,
      namespace: 'kube-system',
      provider: 'gateway',
      clusterId: 'prod',
      log: discardLog,
      metrics: this.metrics,
      record: (_about, { reason, message }) =>
        this.events.push(`${eventType(reason)} ${reason}: ${message}`),
    });
  }

  /** The orphans in the ConfigMap. */
  async orphans(): Promise<RegisteredReport | undefined> {
    const name = { namespace: 'kube-system', name: orphanRegisterName };
    return readOrphanRegister((await this.client.find(configMaps, name)) ?? {})[0];
  }

  async stopController(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async restartController(): Promise<void> {
    await this.stopController();
    this.startController();
  }

  read(name: string): Promise<Service | undefined> {
    return this.client.find(services, named(name));
  }

  async addressOf(name: string): Promise<string | undefined> {
    return (await this.read(name))?.status?.loadBalancer?.ingress?.[0]?.ip;
  }

  /** Creates a Service and waits until it has this address. */
  async create(service: Service, address: string): Promise<void> {
    await this.client.create(services, service);
    const name = service.metadata?.name ?? '';
    await until(async () => expect(await this.addressOf(name)).toBe(address));
  }

  /** Waits until the Service's condition is true. */
  async untilServed(name: string): Promise<void> {
    await until(async () =>
      expect((await this.read(name))?.status?.conditions?.[0]?.status).toBe('True'),
    );
  }

  /** Waits until the message of the condition contains the text. */
  async untilItSays(name: string, text: string): Promise<void> {
    await until(async () =>
      expect((await this.read(name))?.status?.conditions?.[0]?.message).toContain(text),
    );
  }

  /** Changes a Service, like a user. */
  async patch(name: string, change: object): Promise<void> {
    await this.client.patchMerge(services, named(name), change);
  }

  async untilEvent(text: string): Promise<void> {
    await until(() => expect(this.events.join('\n')).toContain(text));
  }

  /** The frontends that the gateway serves: `192.0.2.1:80/TCP` with the Service. */
  served(gateway: number): string[] {
    return [...(this.agents[gateway]?.holds ?? [])].map(
      ([key, { service }]) => `${key} ${service}`,
    );
  }
}
