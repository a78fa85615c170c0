import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { KubeClient } from '../../src/kube/client.ts';
import { findConnection } from '../../src/kube/connection.ts';
import type { Endpoints, Service } from '../../src/kube/core-objects.ts';
import { HttpTransport } from '../../src/kube/http-transport.ts';
import type { EndpointSlice } from '../../src/kube/network-objects.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { endpoints, endpointSlices, services } from '../../src/kube/resources.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { noMetrics } from '../../src/runtime/metrics.ts';
import { startEmbeddedKubernetes } from '../../src/sandbox/kubernetes/start.ts';
import { startEmbeddedOpenStack } from '../../src/sandbox/openstack/cloud.ts';
import type { EmbeddedOptions } from '../../src/sandbox/openstack/settings.ts';
import { Discoverer, type DiscovererParts } from '../../src/discovery/discoverer.ts';
import { discoverySettings } from '../../src/discovery/settings.ts';

/** An embedded cluster and an embedded cloud, with all that a discoverer needs of both. */
export async function startWorld(options: EmbeddedOptions = {}) {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-discovery-'));
  const kubernetes = await startEmbeddedKubernetes();
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
  const discoverer = (settings: object = {}, changes: Partial<DiscovererParts> = {}) =>
    new Discoverer(discoverySettings.parse({ backendName: 'east', ...settings }), {
      client,
      tell: ({ kind, namespace, name }, { type, reason, message }) =>
        events.push(`${type} ${reason} ${kind}/${namespace ?? ''}/${name ?? ''}: ${message}`),
      environment,
      workingDirectory: directory,
      clock: systemClock,
      log: silentLog,
      metrics: noMetrics,
      ...changes,
    });
  return {
    kubernetes,
    cloud,
    client,
    events,
    environment,
    directory,
    discoverer,
    /** One cycle of one backend; throws what it failed with. */
    async once(settings: object = {}, isConfirmed = false) {
      const signal = AbortSignal.timeout(30_000);
      const [result] = await discoverer(settings).once(isConfirmed, signal);
      if (result?.report === undefined) throw result?.error ?? new Error('no result');
      return result.report;
    },
    projectId: (name: string) => projectId(cloud, name),
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

export type World = Awaited<ReturnType<typeof startWorld>>;

function projectId(
  cloud: Awaited<ReturnType<typeof startEmbeddedOpenStack>>,
  name: string,
): string {
  const project = cloud.keystone.directory.findProject('default', name);
  if (project === undefined) throw new Error(`no project ${name}`);
  return project.id;
}

/** Everything but what a cluster has by itself. */
async function all<T extends KubeObject>(client: KubeClient, resource: Resource<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const object of client.list(resource)) {
    if (object.metadata?.name !== 'kubernetes') found.push(object);
  }
  return found;
}
