import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatReport } from '../../../packages/causeway/src/idling/activity-report.ts';
import { idleAfterAnnotation, idledAt } from '../../../packages/causeway/src/idling/annotations.ts';
import { needPodsReason } from '../../../packages/causeway/src/idling/need-pods.ts';
import { template } from '../../contract/idling/objects.ts';
import { freePort } from '../../services/free-port.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { InstalledCluster, rolesIn, type RunningJob } from './installed-cluster.ts';

const account = 'causeway-system:causeway-controller';
const controllers = ['deployment', 'replicaset', 'statefulset', 'endpoints', 'endpointslice'];
const token = 'a token of sixteen letters';

interface Objects {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly phase?: string };
  }[];
}
interface ServiceObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, annotations: { [idleAfterAnnotation]: '1s' } },
  spec: { ports: [{ port: 80, targetPort: 8080 }], ...spec },
});
const workload = (kind: string, name: string, app: string, replicas: number) => ({
  apiVersion: kind === 'ReplicationController' ? 'v1' : 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas,
    selector: kind === 'ReplicationController' ? { app } : { matchLabels: { app } },
    ...(kind === 'StatefulSet' ? { serviceName: app } : {}),
    template: template(app),
  },
});

describe.skipIf(!(await isAvailable(() => prepareKubernetes({ controllerManager: true }))))(
  'idling and the dashboard, with exactly the permissions that ship',
  () => {
    let cluster: InstalledCluster;
    let job: RunningJob;
    let dashboard = '';
    beforeAll(async () => {
      const names = [...controllers.map((name) => `${name}-controller`)];
      cluster = await InstalledCluster.start([...names, 'replicationcontroller-controller']);
      await cluster.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
      await cluster.install('dashboard');
      const port = await freePort();
      job = await cluster.run('dashboard', { dashboard: { port } }, { 'dashboard.token': token });
      dashboard = `http://127.0.0.1:${port}`;
    });
    afterAll(async () => {
      await job?.stop();
      await cluster?.stop();
    });

    const annotation = async (name: string, key: string) =>
      (await cluster.get<ServiceObject>('service', name)).metadata.annotations?.[key];
    /** Reports every pod as ready, like a kubelet. */
    const runPods = async () => {
      const { items } = await cluster.get<Objects>('pods', '-l', 'app');
      for (const [index, { metadata, status }] of items.entries()) {
        if (status.phase === 'Running') continue;
        const podIP = `192.0.2.${(index % 200) + 20}`;
        const running = {
          phase: 'Running',
          podIP,
          podIPs: [{ ip: podIP }],
          conditions: [{ type: 'Ready', status: 'True' }],
        };
        const patch = JSON.stringify({ status: running });
        await cluster
          .kubectl(
            'patch',
            'pod',
            metadata.name,
            '--subresource=status',
            '--type=merge',
            '-p',
            patch,
          )
          .catch(() => undefined);
      }
      return items.length;
    };

    test('the dashboard shows all rows', async () => {
      await cluster.apply(service('shown', { selector: { app: 'shown' }, type: 'LoadBalancer' }));
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(dashboard, { headers })).status).toBe(200);
      const { body } = await fetch(`${dashboard}/api/rows`, { headers });
      let text = '';
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('shown')) break;
      }
      expect(text).toContain('default/shown');
    });

    test('Services are idled automatically and woken by connections', async () => {
      await cluster.apply(
        service('mixed', { selector: { app: 'mixed' } }),
        ...['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'].map((kind) =>
          workload(kind, `mixed-${kind.toLowerCase()}`, 'mixed', 1),
        ),
        {
          apiVersion: 'autoscaling/v2',
          kind: 'HorizontalPodAutoscaler',
          metadata: { name: 'mixed' },
          spec: {
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'mixed-deployment' },
            minReplicas: 1,
            maxReplicas: 3,
          },
        },
        // It has no pods: its workload is searched among all workloads.
        service('empty', { selector: { app: 'empty' } }),
        workload('Deployment', 'empty', 'empty', 0),
        // Its pods are known from its Endpoints only.
        service('manual', {}),
        {
          apiVersion: 'v1',
          kind: 'Endpoints',
          metadata: { name: 'manual' },
          subsets: [
            {
              addresses: [
                {
                  ip: '192.0.2.250',
                  targetRef: { kind: 'Pod', namespace: 'default', name: 'gone' },
                },
              ],
              ports: [{ port: 8080 }],
            },
          ],
        },
      );
      await waitFor('four pods', async () => (await runPods()) === 4, { timeoutMs: 60_000 });
      const names = ['mixed', 'empty', 'manual'];
      const quietSeconds = new Map(names.map((name) => [`default/${name}`, 700]));
      let number = 0;
      await waitFor(
        'it to sleep',
        async () => {
          number += 1;
          const report = formatReport('causeway-reports', { node: 'node-1', quietSeconds }, number);
          await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', ...report });
          return (await annotation('mixed', idledAt)) !== undefined;
        },
        { timeoutMs: 120_000, intervalMs: 1_000 },
      );
      await waitFor('the pods to go', async () => (await runPods()) === 0, { timeoutMs: 60_000 });

      await cluster.apply({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'mixed.1' },
        involvedObject: { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'mixed' },
        type: 'Normal',
        reason: needPodsReason,
        message: 'someone waits',
        firstTimestamp: new Date(Date.now() + 2_000).toISOString().replace(/\.\d+Z$/, 'Z'),
      });
      await waitFor(
        'it to be awake',
        async () => {
          await runPods();
          return (await annotation('mixed', idledAt)) === undefined;
        },
        { timeoutMs: 90_000, intervalMs: 500 },
      );
    });

    test('nothing was forbidden, and every permission was used', async () => {
      const roles = rolesIn(await cluster.shipped('dashboard'));
      await cluster.allUsed(account, roles, [
        // When an Event is repeated, and after a conflict.
        'causeway-controller: patch /events',
        'causeway-controller: get coordination.k8s.io/leases',
      ]);
      await job.stop();
      expect(await cluster.refused(account)).toEqual([]);
    });
  },
);
