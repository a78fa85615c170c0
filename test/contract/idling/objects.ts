import { deployment } from '../kubernetes-api/scenarios/scenario.ts';
import type { LiveCluster } from '../kubernetes-live/live-cluster.ts';

/** A pod on a node, because only such pods get endpoints; deleted at once, because no kubelet ends it. */
export const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: {
    nodeName: 'node-1',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'example/web:1' }],
  },
});

export const sleepyDeployment = (name: string, replicas: number) =>
  deployment(name, { replicas, template: template(name) });

export const webService = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
});

export async function addNode(cluster: LiveCluster): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } };
  await cluster.server.call('POST', '/api/v1/nodes', { body });
}
