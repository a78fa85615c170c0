import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import {
  idleAfterAnnotation,
  idledAt,
  unidleTargets,
} from '../../../packages/causeway/src/idling/annotations.ts';
import { CommandLab } from '../../kernel/proxy/command-lab.ts';
import { endpoint, heard } from '../../kernel/proxy/proxy-lab.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { InstalledCluster, rolesIn } from './installed-cluster.ts';

const account = 'causeway-node:causeway-proxy';
const available = canUseNamespaces() && (await isAvailable(prepareKubernetes));

describe.skipIf(!available)('the proxy, with exactly the permissions that ship', () => {
  let cluster: InstalledCluster;
  let lab: CommandLab;
  beforeAll(async () => {
    cluster = await InstalledCluster.start();
    const kubeconfig = await fs.readFile(cluster.kubernetes.kubeconfig, 'utf8');
    lab = await CommandLab.create(() =>
      Promise.resolve({ url: cluster.kubernetes.url, kubeconfig, stop: () => cluster.stop() }),
    );
    await cluster.install('proxy');
  });
  afterAll(() => lab?.remove());

  const slice = (name: string, pods: readonly 'p1'[]) => ({
    metadata: {
      namespace: 'shop',
      name: `${name}-1`,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: 'IPv4' as const,
    ports: [{ name: '', port: 8080, protocol: 'TCP' as const }],
    endpoints: pods.map((pod) => endpoint(pod)),
  });
  const service = (name: string, clusterIP: string, annotations: Record<string, string>) => ({
    metadata: { namespace: 'shop', name, annotations },
    spec: { clusterIP, ports: [{ port: 80 }] },
  });

  test('serves Services, reports their activity, requests pods and applies policies', async () => {
    const kubeconfig = await cluster.kubeconfigOf('causeway-node', 'causeway-proxy');
    await fs.copyFile(kubeconfig, path.join(lab.directory, 'kubeconfig'));
    await lab.client.create(services, service('web', '10.96.7.1', { [idleAfterAnnotation]: '1h' }));
    await lab.client.create(endpointSlices, slice('web', ['p1']));
    const targets = JSON.stringify([
      { kind: 'Deployment', group: 'apps', name: 'sleeper', replicas: 1 },
    ]);
    const asleep = { [idledAt]: '2026-01-01T00:00:00Z', [unidleTargets]: targets };
    await lab.client.create(services, service('sleeper', '10.96.7.2', asleep));
    // A name that can't be resolved gets an Event.
    await cluster.apply({
      apiVersion: 'network.openshift.io/v1',
      kind: 'EgressNetworkPolicy',
      metadata: { name: 'default', namespace: 'shop' },
      spec: { egress: [{ type: 'Allow', to: { dnsName: 'nowhere.invalid' } }] },
    });
    await lab.start(
      {},
      ...['--services=all', '--idling-report-seconds=1'],
      ...['--idling-report-namespace=causeway-reports'],
    );
    await waitFor(
      'web to answer',
      async () => {
        const [answer] = await lab.lab.ask('client', {
          address: '10.96.7.1',
          port: 80,
          timeoutMs: 1_000,
        });
        return answer !== undefined && heard(answer).startsWith('p1');
      },
      { timeoutMs: 60_000 },
    );
    await waitFor(
      'a request for pods',
      async () => {
        await lab.lab.ask('client', { address: '10.96.7.2', port: 80, timeoutMs: 500 });
        const events = await cluster.kubectl('get', 'events', '-n', 'shop');
        return events.includes('NeedPods');
      },
      { timeoutMs: 60_000 },
    );
    const roles = rolesIn(await cluster.shipped('proxy'));
    await cluster.allUsed(account, roles, [
      // An Event is patched when it is repeated.
      'causeway-proxy: patch /events',
      // A patch that creates the object needs it, but is logged as a patch.
      'causeway-proxy: create /configmaps',
      // OpenShift checks this permission before a report names the Node as its owner.
      'causeway-proxy: delete /configmaps',
    ]);
    await cluster.kubectl('get', 'configmap', 'causeway-activity-node1', '-n', 'causeway-reports');
    expect(await cluster.refused(account)).toEqual([]);
  });
});
