import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import type { Endpoints, Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import type { EndpointSlice } from '../../packages/kubernetes/src/objects/network-objects.ts';
import type { KubeObject } from '../../packages/kubernetes/src/objects/object.ts';
import type { Resource } from '../../packages/kubernetes/src/objects/resource.ts';
import {
  endpoints,
  endpointSlices,
  services,
} from '../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import type { FaultHook } from '../../packages/fake-kubernetes/src/http/faults.ts';
import { startEmbeddedKubernetes } from '../../packages/fake-kubernetes/src/start.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../packages/fake-openstack/src/cloud.ts';
import type { EmbeddedOptions } from '../../packages/fake-openstack/src/settings.ts';
import { Discoverer } from '../../packages/causeway/src/discovery/discoverer.ts';
import type { CloudSurroundings } from '../../packages/causeway/src/discovery/make-cloud.ts';
import { discoverySettings } from '../../packages/causeway/src/discovery/settings.ts';
import { eventType } from '../../packages/causeway/src/cli/event-definitions.ts';

/** An embedded cluster and an embedded cloud, with everything that a discoverer needs of both. */
export async function startWorld(options: EmbeddedOptions = {}, fault?: FaultHook) {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-discovery-'));
  const kubernetes = await startEmbeddedKubernetes(fault === undefined ? {} : { fault });
  const cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 0, ...options });
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  const client = new KubeClient({ transport, clock: systemClock });
  const events: string[] = [];
  const environment = {
    OS_AUTH_URL: cloud.authUrl,
    OS_USERNAME: 'demo',
    OS_PASSWORD: 'demo',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_REGION_NAME: cloud.region,
  };
  const discoverer = (
    { intervalSeconds = 30, ...settings }: TestSettings = {},
    changes: Partial<CloudSurroundings> = {},
  ) => {
    const named = 'backends' in settings ? settings : { backendName: 'east', ...settings };
    return new Discoverer(
      { ...discoverySettings.parse(named), intervalSeconds },
      {
        client,
        recordEvent: ({ kind, namespace, name }, { reason, message }) => {
          events.push(
            `${eventType(reason)} ${reason} ${kind}/${namespace ?? ''}/${name ?? ''}: ${message}`,
          );
          return true;
        },
        environment,
        workingDirectory: directory,
        clock: systemClock,
        log: discardLog,
        metrics: noMetrics,
        ...changes,
      },
    );
  };
  return {
    cloud,
    client,
    events,
    environment,
    kubeconfig,
    discoverer,
    /** Runs one cycle of one backend; throws its error. */
    async once(settings: TestSettings = {}, isConfirmed = false) {
      const signal = AbortSignal.timeout(300_000);
      const [result] = await discoverer(settings).once(isConfirmed, signal);
      if (result?.report === undefined) throw result?.error ?? new Error('no result');
      return result.report;
    },
    /** Runs cycles without pauses until stopped; throws the error that ended them. */
    start(settings: TestSettings = {}, changes: Partial<CloudSurroundings> = {}) {
      const stop = new AbortController();
      const ended = discoverer({ intervalSeconds: 0.02, ...settings }, changes).run(
        false,
        stop.signal,
      );
      ended.catch(() => undefined);
      return {
        ended,
        stop: async () => {
          stop.abort();
          await ended;
        },
      };
    },
    writeFile: (name: string, text: string) => fs.writeFile(path.join(directory, name), text),
    projectId: (name: string) => projectId(cloud, name),
    /** A load balancer with one HTTP listener that sends to port 8080 of these addresses. */
    addLoadBalancer: (project: string, name: string, ...addresses: string[]) =>
      cloud.addLoadBalancer(projectId(cloud, project), loadBalancer(cloud, name, addresses)),
    removeLoadBalancer(id: string) {
      const { loadBalancers, listeners, pools } = cloud.octavia;
      for (const table of [listeners, pools]) {
        for (const row of table.all()) if (row.loadbalancer_id === id) table.delete(row.id);
      }
      loadBalancers.delete(id);
    },
    services: () => all<Service>(client, services),
    slices: () => all<EndpointSlice>(client, endpointSlices),
    endpoints: () => all<Endpoints>(client, endpoints),
    async stop() {
      await client.close();
      await Promise.all([kubernetes.stop(), cloud.stop()]);
      await fs.rm(directory, { recursive: true });
    },
  };
}

interface TestSettings {
  readonly [name: string]: unknown;
  readonly intervalSeconds?: number;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

export function projectId(cloud: EmbeddedOpenStack, name: string): string {
  const project = cloud.keystone.directory.findProject('default', name);
  if (project === undefined) throw new Error(`no project ${name}`);
  return project.id;
}

/** Everything except the default objects of a cluster. */
async function all<T extends KubeObject>(client: KubeClient, resource: Resource<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const object of client.list(resource)) {
    if (object.metadata?.name !== 'kubernetes') found.push(object);
  }
  return found;
}

/** The request for a load balancer with one HTTP listener that sends to port 8080 of these addresses. */
export function loadBalancer(cloud: EmbeddedOpenStack, name: string, addresses: readonly string[]) {
  const subnet = cloud.neutron.subnets.all().find((row) => row.name === 'private-v4');
  const members = addresses.map((address) => ({ address, protocol_port: 8080 }));
  const pool = { name: 'pool', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', members };
  const listener = { name: 'http', protocol: 'HTTP', protocol_port: 80, default_pool: pool };
  return { name, vip_subnet_id: subnet?.id ?? '', listeners: [listener] };
}
