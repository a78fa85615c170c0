import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  idledAt,
  previousMinReplicas,
  previousScale,
  unidleTargets,
} from '../../../packages/causeway/src/idling/annotations.ts';
import { Idler } from '../../../packages/causeway/src/idling/idler.ts';
import { listIdle } from '../../../packages/causeway/src/idling/list-idle.ts';
import { ScaleDiscovery } from '../../../packages/causeway/src/idling/scale-discovery.ts';
import { wakeNow } from '../../../packages/causeway/src/idling/wake-now.ts';
import { Waker } from '../../../packages/causeway/src/idling/waker.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import {
  endpoints,
  horizontalPodAutoscalers,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, connectionTo } from '../kube-client/cluster.ts';
import { LiveCluster, type Workspace } from '../kubernetes-live/live-cluster.ts';
import { addNode, sleepyDeployment, template, webService } from './objects.ts';

const signal = new AbortController().signal;

describe.runIf(await isAvailable(() => prepareKubernetes({ controllerManager: true }))).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('idling on the %s cluster', (_, start) => {
  let cluster: LiveCluster;
  let client: KubeClient;
  let idler: Idler;
  let waker: Waker;

  beforeAll(async () => {
    cluster = await start();
    client = clientFor(await connectionTo(cluster.server));
    await addNode(cluster);
    const discovery = new ScaleDiscovery(client);
    idler = new Idler({ client, discovery, clock: systemClock });
    waker = new Waker({ client, discovery });
  });
  afterAll(async () => {
    await client.close();
    await cluster.server.stop();
  });

  const scaleOf = async (space: Workspace, resource: string, name: string) =>
    (await space.get(resource, name))?.spec['replicas'];
  const marksOf = async (namespace: string, name: string) => {
    const where = { namespace, name };
    const [service, current] = [
      await client.get(services, where),
      await client.get(endpoints, where),
    ];
    return [service, current].map(({ metadata }) => ({
      idledAt: metadata?.annotations?.[idledAt],
      targets: metadata?.annotations?.[unidleTargets],
    }));
  };
  const ready = async (space: Workspace, name: string) =>
    (await space.list('endpointslices', `kubernetes.io/service-name=${name}`)).some((slice) =>
      JSON.stringify(slice['endpoints']).includes('"ready":true'),
    );
  const wake = async (space: Workspace, name: string) => {
    const options = { client, waker, clock: systemClock, timeoutMs: 300_000 };
    let isAwake = false;
    const waking = wakeNow(options, { namespace: space.namespace, name }, signal).finally(() => {
      isAwake = true;
    });
    const [result] = await Promise.all([
      waking,
      space.runPodsUntil(`${name} to be awake`, () => Promise.resolve(isAwake)),
    ]);
    return result;
  };

  test('a Deployment is idled and woken with the previous number of replicas', async () => {
    const space = await cluster.workspace('sleepy');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 3));
    await space.until('three pods', 'pods', (all) => all.length === 3);
    await space.runPodsUntil('endpoints', () => ready(space, 'web'));
    const plan = await idler.idle({ namespace: 'sleepy', name: 'web' }, signal);
    expect(plan.pods).toHaveLength(3);
    const [onService, onEndpoints] = await marksOf('sleepy', 'web');
    expect(onService?.idledAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(onService?.targets).toBe(
      '[{"kind":"Deployment","name":"web","group":"apps","replicas":3}]',
    );
    expect(onEndpoints).toEqual(onService);
    expect(await scaleOf(space, 'deployments', 'web')).toBe(0);
    const slept = await space.get('deployments', 'web');
    expect(slept?.metadata.annotations?.[previousScale]).toBe('3');
    await space.until('the pods to go', 'pods', (all) => all.length === 0);

    // Again, with no pods running: the stored replicas stay.
    await idler.idle({ namespace: 'sleepy', name: 'web' }, signal);
    expect((await marksOf('sleepy', 'web'))[0]?.targets).toContain('"replicas":3');
    expect(await listIdle(client, 'sleepy', signal)).toMatchObject([
      { service: 'web', targets: ['Deployment web × 3'], note: '' },
    ]);

    const result = await wake(space, 'web');
    expect(result.started).toHaveLength(1);
    expect(await scaleOf(space, 'deployments', 'web')).toBe(3);
    const nothing = { idledAt: undefined, targets: undefined };
    expect(await marksOf('sleepy', 'web')).toEqual([nothing, nothing]);
    const awake = await space.get('deployments', 'web');
    expect(awake?.metadata.annotations?.[previousScale]).toBeUndefined();
    expect(await listIdle(client, 'sleepy', signal)).toEqual([]);
  });

  test('a StatefulSet, a ReplicaSet and a ReplicationController behind one Service are idled and woken, too', async () => {
    const space = await cluster.workspace('mixed');
    await space.create('services', webService('mix'));
    const spec = {
      replicas: 2,
      selector: { matchLabels: { app: 'mix' } },
      template: template('mix'),
    };
    const named = (kind: string, name: string) => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name },
    });
    await space.create('statefulsets', {
      ...named('StatefulSet', 'kept'),
      spec: { ...spec, serviceName: 'mix', podManagementPolicy: 'Parallel' },
    });
    await space.create('replicasets', { ...named('ReplicaSet', 'plain'), spec });
    await space.create('replicationcontrollers', {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'old' },
      spec: { replicas: 1, template: template('mix') },
    });
    await space.until('pods', 'pods', (all) => all.length >= 5);
    await idler.idle({ namespace: 'mixed', name: 'mix' }, signal);
    const [{ targets = '' } = {}] = await marksOf('mixed', 'mix');
    expect((JSON.parse(targets) as { name: string }[]).map(({ name }) => name).sort()).toEqual([
      'kept',
      'old',
      'plain',
    ]);
    expect(targets).toContain('{"kind":"ReplicationController","name":"old","replicas":1}');
    const kinds = { statefulsets: 'kept', replicasets: 'plain', replicationcontrollers: 'old' };
    for (const [resource, name] of Object.entries(kinds)) {
      expect(await scaleOf(space, resource, name)).toBe(0);
    }
    await wake(space, 'mix');
    expect(await scaleOf(space, 'statefulsets', 'kept')).toBe(2);
    expect(await scaleOf(space, 'replicationcontrollers', 'old')).toBe(1);
  });

  test("an autoscaler's lower bound is stored and restored", async () => {
    const space = await cluster.workspace('scaled');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 2));
    await client.create(horizontalPodAutoscalers, {
      metadata: { namespace: 'scaled', name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 2,
        maxReplicas: 5,
      },
    });
    await space.until('pods', 'pods', (all) => all.length === 2);
    const where = { namespace: 'scaled', name: 'web' };
    await idler.idle(where, signal);
    const asleep = await client.get(horizontalPodAutoscalers, where);
    expect(asleep.metadata?.annotations?.[previousMinReplicas]).toBe('2');
    await wake(space, 'web');
    const awake = await client.get(horizontalPodAutoscalers, where);
    expect(awake.metadata?.annotations?.[previousMinReplicas]).toBeUndefined();
    expect(awake.spec?.minReplicas).toBe(2);
  });

  test('a Service that a very old oc idled is recognized and can be woken', async () => {
    const space = await cluster.workspace('legacy');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 0));
    await space.untilObject('the Endpoints', 'endpoints', 'web', () => true);
    await space.patch('endpoints', 'web', {
      metadata: {
        annotations: {
          [idledAt]: '2020-01-01T00:00:00Z',
          [unidleTargets]:
            '[{"kind":"Deployment","name":"web","apiVersion":"apps/v1","replicas":2}]',
        },
      },
    });
    const [row] = await listIdle(client, 'legacy', signal);
    expect(row).toMatchObject({ service: 'web', targets: ['Deployment web × 2'] });
    expect(row?.note).toContain('old oc');
    await wake(space, 'web');
    expect(await scaleOf(space, 'deployments', 'web')).toBe(2);
    expect(await listIdle(client, 'legacy', signal)).toEqual([]);
  });

  test('rejects a Service that could not be woken again, and writes nothing', async () => {
    const space = await cluster.workspace('refused');
    await space.create('services', webService('bare'));
    await space.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      ...template('bare'),
      metadata: { name: 'bare', labels: { app: 'bare' } },
    });
    await space.create('services', webService('headless', { clusterIP: 'None' }));
    await space.create('services', webService('nobody'));
    const idle = (name: string) => idler.idle({ namespace: 'refused', name }, signal);
    await expect(idle('bare')).rejects.toThrow('no owner that could start it again');
    await expect(idle('headless')).rejects.toThrow('headless');
    await expect(idle('nobody')).rejects.toThrow('no object runs pods for the Service');
    expect(await listIdle(client, 'refused', signal)).toEqual([]);
  });

  test('any resource with a scale can be idled', async () => {
    const space = await cluster.workspace('custom');
    await cluster.server.kubectl(['apply', '-f', '-'], JSON.stringify(rolloutDefinition));
    const rollout = await createRollout(cluster, space);
    await space.create('services', webService('roll'));
    await space.create('replicasets', {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: 'roll-1',
        ownerReferences: [
          {
            apiVersion: 'example.com/v1',
            kind: 'Rollout',
            name: 'roll',
            uid: rollout,
            controller: true,
          },
        ],
      },
      spec: { replicas: 1, selector: { matchLabels: { app: 'roll' } }, template: template('roll') },
    });
    await space.until('the pod', 'pods', (all) => all.length === 1);
    await idler.idle({ namespace: 'custom', name: 'roll' }, signal);
    expect((await marksOf('custom', 'roll'))[0]?.targets).toBe(
      '[{"kind":"Rollout","name":"roll","group":"example.com","replicas":4}]',
    );
    const path = '/apis/example.com/v1/namespaces/custom/rollouts/roll';
    const { body } = await cluster.server.call('GET', path);
    expect(body).toMatchObject({ spec: { replicas: 0 } });
  });
});

const rolloutDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'rollouts.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'rollouts', kind: 'Rollout' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
        subresources: {
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    ],
  },
};

async function createRollout(cluster: LiveCluster, space: Workspace): Promise<string> {
  return waitFor('rollouts to be served', async () => {
    const path = `/apis/example.com/v1/namespaces/${space.namespace}/rollouts`;
    const body = {
      apiVersion: 'example.com/v1',
      kind: 'Rollout',
      metadata: { name: 'roll' },
      spec: { replicas: 4 },
    };
    const answer = await cluster.server.call('POST', path, { body });
    if (answer.status !== 201) return undefined;
    return (answer.body as { metadata: { uid: string } }).metadata.uid;
  });
}
