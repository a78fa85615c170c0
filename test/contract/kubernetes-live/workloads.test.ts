import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { deployment } from '../kubernetes-api/scenarios/scenario.ts';
import { essence, LiveCluster, type LiveObject } from './live-cluster.ts';

const withManager = () => prepareKubernetes({ controllerManager: true });

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
});

const available = (object: Pick<LiveObject, 'status'> | undefined) =>
  Number(object?.status['availableReplicas'] ?? 0);
const byName = (left: LiveObject, right: LiveObject) =>
  left.metadata.name < right.metadata.name ? -1 : 1;

/** The result of the same specs in each cluster; at the end they must be equal. */
const worlds: Record<string, Record<string, unknown>> = {};

describe.runIf(await isAvailable(withManager)).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('workloads on the %s cluster', (label, start) => {
  let cluster: LiveCluster;
  const record = (what: string, value: unknown) => {
    worlds[label] = { ...worlds[label], [what]: essence(value) };
  };

  beforeAll(async () => {
    cluster = await start();
  });

  afterAll(async () => {
    await cluster.server.stop();
  });

  test('a Deployment creates a ReplicaSet, which creates pods', async () => {
    const space = await cluster.workspace('rollout');
    await space.create('deployments', deployment('web', { replicas: 3 }));
    const pods = await space.until('three pods', 'pods', (all) => all.length === 3);
    const counted = await space.untilObject(
      'pods to be counted',
      'deployments',
      'web',
      ({ status }) => status['replicas'] === 3 && status['unavailableReplicas'] === 3,
    );
    record('pods', pods[0]);
    record('a Deployment that waits', counted);
    record(
      'its ReplicaSet',
      await space.until('the count', 'replicasets', ([set]) => set?.status['replicas'] === 3),
    );
    await space.runPodsUntil(
      'the Deployment to be available',
      async () => available(await space.get('deployments', 'web')) === 3,
    );
    record(
      'a Deployment that is available',
      await space.untilObject('the rollout to be complete', 'deployments', 'web', ({ status }) =>
        JSON.stringify(status).includes('NewReplicaSetAvailable'),
      ),
    );
  });

  test('a new template is rolled out, and rolled back', async () => {
    const space = await cluster.workspace('update');
    const isDone = async (image: string) => {
      const sets = await space.list('replicasets');
      const current = sets.find((set) => JSON.stringify(set.spec).includes(image));
      const others = sets.filter((set) => set !== current);
      const isSettled = others.every(({ status }) => status['replicas'] === 0);
      return current !== undefined && available(current) === 4 && isSettled;
    };
    await space.create('deployments', deployment('web', { replicas: 4 }));
    await space.runPodsUntil('the first version', () => isDone('example/web:1'));
    const containers = (image: string) => ({
      spec: { template: { spec: { containers: [{ name: 'main', image }] } } },
    });
    await space.patch('deployments', 'web', containers('example/web:2'));
    await space.runPodsUntil('the second version', () => isDone('example/web:2'));
    await space.patch('deployments', 'web', containers('example/web:1'));
    await space.runPodsUntil('the first version again', () => isDone('example/web:1'));
    const sets = await space.list('replicasets');
    expect(sets).toHaveLength(2);
    const revisions = sets.map(
      ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'],
    );
    expect(new Set(revisions)).toEqual(new Set(['2', '3']));
    const web = await space.untilObject(
      'the status',
      'deployments',
      'web',
      ({ status, metadata }) =>
        available({ status }) === 4 &&
        status['replicas'] === 4 &&
        status['observedGeneration'] === metadata['generation'] &&
        JSON.stringify(status).includes('NewReplicaSetAvailable'),
    );
    record('after a rollback', web);
  });

  test('a Deployment recreates, pauses, and deletes its oldest revisions', async () => {
    const space = await cluster.workspace('recreate');
    await space.create(
      'deployments',
      deployment('web', { replicas: 2, strategy: { type: 'Recreate' }, revisionHistoryLimit: 1 }),
    );
    for (const version of [2, 3, 4]) {
      await space.patch('deployments', 'web', {
        spec: {
          template: { spec: { containers: [{ name: 'main', image: `example/web:${version}` }] } },
        },
      });
      await space.runPodsUntil(`version ${version}`, async () => {
        const sets = await space.list('replicasets');
        return sets.some(
          (set) => available(set) === 2 && JSON.stringify(set.spec).includes(`web:${version}`),
        );
      });
    }
    await space.until('the oldest to be deleted', 'replicasets', (sets) => sets.length === 2);
    await space.patch('deployments', 'web', {
      spec: {
        paused: true,
        template: { spec: { containers: [{ name: 'main', image: 'example/web:5' }] } },
      },
    });
    await space.patch('deployments', 'web', { spec: { replicas: 3 } });
    await space.until('three of the old version', 'replicasets', (sets) =>
      sets.some(({ spec }) => spec['replicas'] === 3),
    );
    const sets = await space.list('replicasets');
    expect(sets.every((set) => !JSON.stringify(set.spec).includes('web:5'))).toBe(true);
  });

  test('scaling down deletes pods that are not ready first', async () => {
    const space = await cluster.workspace('scale-down');
    await space.create('deployments', deployment('web', { replicas: 3 }));
    const pods = (await space.until('three pods', 'pods', (all) => all.length === 3)).sort(byName);
    const [serving, starting] = pods;
    await space.report(serving, true, '10.244.0.1');
    await space.report(starting, false, '10.244.0.2');
    // The controller gets pods and specs from different watches.
    await space.until(
      'the pod to be counted',
      'replicasets',
      ([set]) => set?.status['readyReplicas'] === 1,
    );
    await space.patch('deployments', 'web', { spec: { replicas: 1 } });
    const left = await space.until('one pod', 'pods', (all) => all.length === 1);
    expect(left[0]?.metadata.name).toBe(serving?.metadata.name);
  });

  test('adopts a matching pod, and releases one that no longer matches', async () => {
    const space = await cluster.workspace('adoption');
    const pod = await space.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'orphan', labels: { app: 'web' } },
      spec: template('web').spec,
    });
    const set = await space.create('replicasets', {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('web') },
    });
    const isOwned = (object: LiveObject) =>
      object.metadata.ownerReferences?.[0]?.uid === set.metadata.uid;
    await space.until(
      'two pods, one adopted',
      'pods',
      (all) => all.length === 2 && all.every(isOwned),
    );
    await space.patch('pods', 'orphan', { metadata: { labels: { app: 'other' } } });
    const pods = await space.until(
      'another pod in its place',
      'pods',
      (all) => all.length === 3 && all.filter(isOwned).length === 2,
    );
    expect(
      pods.find(({ metadata }) => metadata.uid === pod.metadata.uid)?.metadata.ownerReferences,
    ).toBeUndefined();
  });

  test('a ReplicationController keeps its pods', async () => {
    const space = await cluster.workspace('controller');
    await space.create('replicationcontrollers', {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'rc' },
      spec: { replicas: 2, template: template('rc') },
    });
    const [first] = await space.until('two pods', 'pods', (all) => all.length === 2);
    await space.delete('pods', first?.metadata.name ?? '');
    await space.until(
      'a new one',
      'pods',
      (all) =>
        all.length === 2 && all.every(({ metadata }) => metadata.uid !== first?.metadata.uid),
    );
    await space.runPodsUntil(
      'both to be ready',
      async () => (await space.get('replicationcontrollers', 'rc'))?.status['readyReplicas'] === 2,
    );
    record('a ReplicationController', await space.get('replicationcontrollers', 'rc'));
  });

  test('a StatefulSet starts its pods in order and deletes them in reverse', async () => {
    const space = await cluster.workspace('ordered');
    await space.create('statefulsets', {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        replicas: 3,
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template: template('db'),
      },
    });
    for (const [place, name] of ['db-0', 'db-1', 'db-2'].entries()) {
      const pods = await space.until(name, 'pods', (all) =>
        all.some(({ metadata }) => metadata.name === name),
      );
      expect(pods).toHaveLength(place + 1);
      const pod = pods.find(({ metadata }) => metadata.name === name);
      if (place === 0) record('the first pod of a StatefulSet', pod);
      await space.report(pod, true, `10.244.0.${place + 1}`);
    }
    record(
      'a StatefulSet',
      await space.untilObject(
        'all to be ready',
        'statefulsets',
        'db',
        ({ status }) => status['readyReplicas'] === 3 && status['availableReplicas'] === 3,
      ),
    );
    const { metadata: updated } = await space.patch('statefulsets', 'db', {
      spec: { template: { spec: { containers: [{ name: 'main', image: 'example/web:2' }] } } },
    });
    await space.runPodsUntil('the update', async () => {
      const set = await space.get('statefulsets', 'db');
      return (
        set?.status['updatedReplicas'] === 3 &&
        // Until the controller has seen the new template, its counts are those of the old one.
        set.status['observedGeneration'] === updated['generation'] &&
        set.status['readyReplicas'] === 3 &&
        set.status['currentRevision'] === set.status['updateRevision']
      );
    });
    await space.patch('statefulsets', 'db', { spec: { replicas: 1 } });
    const left = await space.until('one pod', 'pods', (all) => all.length === 1);
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['db-0']);
  });
});

test.runIf(await isAvailable(withManager))('both clusters have the same result', () => {
  for (const [what, expected] of Object.entries(worlds['real'] ?? {})) {
    expect.soft({ [what]: worlds['embedded']?.[what] }).toEqual({ [what]: expected });
  }
});
