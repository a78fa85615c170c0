import fs from 'node:fs/promises';
import path from 'node:path';
import { vi } from 'vitest';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../../packages/kubernetes/src/client/connection.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import type { AnnouncerName } from '../../../packages/causeway/src/pool/announcer.ts';
import {
  makeNodeProvider,
  makePoolProvider,
} from '../../../packages/causeway/src/pool/make-pool-provider.ts';
import { ServiceController } from '../../../packages/causeway/src/services/service-controller.ts';
import { systemClock, type Clock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { eventType } from '../../../packages/causeway/src/cli/event-definitions.ts';

export interface ControllerOptions {
  /** Without it, the nodes' own addresses serve. */
  readonly ipam?: Pick<IpamClient, 'call'>;
  readonly announcer?: AnnouncerName | undefined;
  readonly classes?: readonly string[];
  readonly withdrawalMs?: number;
  readonly selfWithdrawal?: boolean;
  readonly clock?: Clock;
  /** Whether Services without a class belong to the provider. */
  readonly isDefault?: boolean;
}

export const named = (name: string) => ({ namespace: 'default', name });
export const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

/** A cluster, embedded by default, with the controller and the pool provider. */
export class ClusterUnderTest {
  readonly client: KubeClient;
  readonly events: string[] = [];
  readonly #stopKubernetes: () => Promise<void>;
  #stop = new AbortController();
  #ended: Promise<void> | undefined;

  private constructor(client: KubeClient, stopKubernetes: () => Promise<void>) {
    this.client = client;
    this.#stopKubernetes = stopKubernetes;
  }

  static async start(): Promise<ClusterUnderTest> {
    const directory = await scratchDirectory('pool');
    const kubernetes = await startEmbeddedKubernetes();
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
    return ClusterUnderTest.on(kubeconfig, async () => {
      await kubernetes.stop();
      await removeDirectory(directory);
    });
  }

  /** On an existing cluster. */
  static async on(kubeconfig: string, stop: () => Promise<void>): Promise<ClusterUnderTest> {
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    return new ClusterUnderTest(new KubeClient({ transport, clock: systemClock }), stop);
  }

  startController(spec: ControllerOptions): void {
    this.#stop = new AbortController();
    const { clock = systemClock } = spec;
    const common = { client: this.client, clock, log: discardLog, metrics: noMetrics };
    const onNodes = { ...common, node: undefined, classes: spec.classes ?? [] };
    const provider =
      spec.ipam === undefined
        ? makeNodeProvider(onNodes)
        : makePoolProvider({
            ...onNodes,
            ipam: spec.ipam,
            site: 'edge',
            cluster: 'blue',
            announcer: spec.announcer,
            heartbeatMs: 100,
            driftEveryMs: 200,
            selfWithdrawal: spec.selfWithdrawal ?? false,
            namespace: 'kube-system',
            withdrawalMs: spec.withdrawalMs ?? 20_000,
          });
    const controller = new ServiceController({
      ...common,
      providers: { all: [provider], defaultName: spec.isDefault === false ? undefined : 'pool' },
      recordEvent: (_service, reason, message) =>
        this.events.push(`${eventType(reason)} ${reason}: ${message}`),
      workers: 4,
    });
    this.#ended = controller.run(this.#stop.signal);
  }

  async stopController(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  create(name: string, more: Service = {}): Promise<Service> {
    return this.client.create(services, {
      metadata: { ...named(name), ...more.metadata },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...more.spec },
    });
  }

  read(name: string): Promise<Service | undefined> {
    return this.client.find(services, named(name));
  }

  async annotation(name: string, key: string): Promise<string | undefined> {
    return (await this.read(name))?.metadata?.annotations?.[key];
  }

  async addressesOf(name: string): Promise<string[]> {
    const ingress = (await this.read(name))?.status?.loadBalancer?.ingress ?? [];
    return ingress.map(({ ip = '' }) => ip);
  }

  /** Simulates the announcer: writes the status. */
  async announce(name: string, addresses: readonly string[]): Promise<void> {
    const ingress = addresses.map((ip) => ({ ip }));
    const patch = { status: { loadBalancer: { ingress } } };
    await this.client.patchMerge(services, named(name), patch, { subresource: 'status' });
  }

  async stop(): Promise<void> {
    await this.stopController();
    await this.client.close();
    await this.#stopKubernetes();
  }
}
