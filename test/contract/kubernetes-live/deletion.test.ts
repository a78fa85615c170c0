import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { configMap, deployment } from '../kubernetes-api/scenarios/scenario.ts';
import { LiveCluster, type LiveObject } from './live-cluster.ts';

const withManager = () => prepareKubernetes({ controllerManager: true });

const ownedBy = ({ metadata }: LiveObject, more: object = {}) => ({
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid, ...more },
  ],
});

describe.runIf(await isAvailable(withManager)).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('deletion on the %s cluster', (_, start) => {
  let cluster: LiveCluster;

  beforeAll(async () => {
    cluster = await start();
  });

  afterAll(async () => {
    await cluster.server.stop();
  });

  const named = (objects: readonly LiveObject[], name: string) =>
    objects.find(({ metadata }) => metadata.name === name);

  test('deletes dependents', async () => {
    const space = await cluster.workspace('background');
    await space.create('deployments', deployment('web', { replicas: 2 }));
    await space.until('two pods', 'pods', (all) => all.length === 2);
    await space.delete('deployments', 'web', { propagationPolicy: 'Background' });
    await space.until('no ReplicaSets', 'replicasets', (all) => all.length === 0);
    await space.until('no pods', 'pods', (all) => all.length === 0);
  });

  test('in the foreground waits for blocking dependents', async () => {
    const space = await cluster.workspace('foreground');
    const owner = await space.create('configmaps', configMap('owner'));
    await space.create(
      'configmaps',
      configMap(
        'holds',
        {},
        { ...ownedBy(owner, { blockOwnerDeletion: true }), finalizers: ['example.com/wait'] },
      ),
    );
    await space.create(
      'configmaps',
      configMap('does-not', {}, { ...ownedBy(owner), finalizers: ['example.com/wait'] }),
    );
    await space.delete('configmaps', 'owner', { propagationPolicy: 'Foreground' });
    const marked = await space.until('dependents to be marked', 'configmaps', (all) =>
      ['holds', 'does-not'].every(
        (name) => named(all, name)?.metadata.deletionTimestamp !== undefined,
      ),
    );
    expect(named(marked, 'owner')?.metadata['finalizers']).toEqual(['foregroundDeletion']);
    await space.patch('configmaps', 'holds', { metadata: { finalizers: null } });
    await space.until(
      'the owner to be gone',
      'configmaps',
      (all) => named(all, 'owner') === undefined,
    );
    expect(named(await space.list('configmaps'), 'does-not')).toBeDefined();
    await space.patch('configmaps', 'does-not', { metadata: { finalizers: null } });
    await space.until(
      'all to be gone',
      'configmaps',
      (all) => named(all, 'does-not') === undefined,
    );
  });

  test('with orphaning releases dependents', async () => {
    const space = await cluster.workspace('orphan');
    await space.create('deployments', deployment('web', { replicas: 1 }));
    await space.until('a pod', 'pods', (all) => all.length === 1);
    await space.delete('deployments', 'web', { propagationPolicy: 'Orphan' });
    await space.until('no Deployment', 'deployments', (all) => all.length === 0);
    const [set] = await space.until(
      'a free ReplicaSet',
      'replicasets',
      (all) => all.length === 1 && all[0]?.metadata.ownerReferences === undefined,
    );
    expect(set?.spec['replicas']).toBe(1);
    expect(await space.list('pods')).toHaveLength(1);
  });

  test('collects objects that never had a valid owner, and keeps those with another one', async () => {
    const space = await cluster.workspace('owners');
    const stays = await space.create('configmaps', configMap('stays'));
    const goes = await space.create('configmaps', configMap('goes'));
    const both = [...ownedBy(stays).ownerReferences, ...ownedBy(goes).ownerReferences];
    await space.create('configmaps', configMap('both', {}, { ownerReferences: both }));
    await space.create('configmaps', configMap('one', {}, ownedBy(goes)));
    const absent = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'never',
      uid: '00000000-0000-0000-0000-000000000000',
    };
    await space.create('configmaps', configMap('born-late', {}, { ownerReferences: [absent] }));
    await space.until(
      'the late one to be collected',
      'configmaps',
      (all) => named(all, 'born-late') === undefined,
    );
    await space.delete('configmaps', 'goes', { propagationPolicy: 'Background' });
    const left = await space.until(
      'the dependent to be collected',
      'configmaps',
      (all) => named(all, 'one') === undefined && named(all, 'goes') === undefined,
    );
    expect(named(left, 'both')).toBeDefined();
  });

  test('of a namespace empties it first', async () => {
    const space = await cluster.workspace('leaving');
    const path = '/api/v1/namespaces/leaving';
    await space.create('deployments', deployment('web', { replicas: 2 }));
    await space.until('two pods', 'pods', (all) => all.length === 2);
    await space.create('configmaps', configMap('held', {}, { finalizers: ['example.com/wait'] }));
    const answer = await cluster.server.call('DELETE', path);
    expect(answer.status).toBe(200);
    expect((answer.body as LiveObject).status['phase']).toBe('Terminating');
    await waitFor('only the held one to be left', async () => {
      const { body } = await cluster.server.call('GET', path);
      return JSON.stringify(body).includes('example.com/wait in 1 resource instances');
    });
    const refused = await cluster.server.call('POST', space.path('configmaps'), {
      body: configMap('late'),
    });
    expect(refused.status).toBe(403);
    expect(await space.list('pods')).toHaveLength(0);
    await space.patch('configmaps', 'held', { metadata: { finalizers: null } });
    await waitFor(
      'the namespace to be gone',
      async () => (await cluster.server.call('GET', path)).status === 404,
    );
  });
});
