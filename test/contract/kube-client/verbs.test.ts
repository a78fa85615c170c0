import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import type { CustomResourceDefinition } from '../../../packages/kubernetes/src/objects/custom-resource-definition.ts';
import type { Schema } from '../../../packages/kubernetes/src/objects/schema.ts';
import {
  installCustomResources,
  resourceOf,
} from '../../../packages/kubernetes/src/objects/custom-resources.ts';
import type { ConfigMap, Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { EventRecorder } from '../../../packages/kubernetes/src/events/event-recorder.ts';
import {
  addFinalizer,
  removeFinalizer,
} from '../../../packages/kubernetes/src/objects/finalizers.ts';
import type { KubeObject } from '../../../packages/kubernetes/src/objects/object.ts';
import {
  builtInResources,
  configMaps,
  deployments,
  events,
  namespaces,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, clusters, connectionTo, type Cluster } from './cluster.ts';
import { eventType } from '../../../packages/causeway/src/cli/event-definitions.ts';

const { signal } = new AbortController();

describe.each(clusters)('the client on $name', ({ start }) => {
  let cluster: Cluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await start();
    client = clientFor(await connectionTo(cluster));
  });
  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const inDefault = (name: string) => ({ namespace: 'default', name });
  const service = (name: string, port = 80): Service => ({
    metadata: inDefault(name),
    spec: { selector: { app: name }, ports: [{ port }] },
  });
  const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
    metadata: inDefault(name),
    data,
  });

  it('creates, gets, updates and deletes', async () => {
    const created = await client.create(services, service('web'));
    expect(created).toMatchObject({ kind: 'Service', spec: { type: 'ClusterIP' } });
    expect(await client.get(services, inDefault('web'))).toEqual(created);
    const spec = { ...created.spec, ports: [{ port: 81 }] };
    const updated = await client.update(services, { ...created, spec });
    expect(updated.spec?.ports?.[0]?.port).toBe(81);
    await expect(client.update(services, { ...created, spec })).rejects.toMatchObject({
      code: 'conflict',
      status: 409,
      reason: 'Conflict',
    });
    await expect(client.create(services, service('web'))).rejects.toMatchObject({
      code: 'conflict',
      reason: 'AlreadyExists',
    });
    await client.delete(services, inDefault('web'));
    expect(await client.find(services, inDefault('web'))).toBeUndefined();
    await expect(client.delete(services, inDefault('web'))).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('reports invalid fields one by one', async () => {
    const bad = service('Bad_Name', 99_999);
    const error: unknown = await client.create(services, bad).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid', status: 422, reason: 'Invalid' });
    const { causes } = error as { causes: readonly { field?: string }[] };
    expect(causes.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['metadata.name', 'spec.ports[0].port']),
    );
  });

  it('patches with JSON patch and merge patch', async () => {
    await client.create(configMaps, configMap('patched', { a: '1', b: '2' }));
    const name = inDefault('patched');
    const json = await client.patchJson(configMaps, name, [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'remove', path: '/data/b' },
      { op: 'add', path: '/data/c', value: '3' },
    ]);
    expect(json.data).toEqual({ a: '1', c: '3' });
    await expect(
      client.patchJson(configMaps, name, [{ op: 'test', path: '/data/a', value: 'other' }]),
    ).rejects.toMatchObject({ code: 'invalid', status: 422 });
    const merged = await client.patchMerge(configMaps, name, { data: { a: null, d: '4' } });
    expect(merged.data).toEqual({ c: '3', d: '4' });
    const stale = { metadata: { resourceVersion: json.metadata?.resourceVersion }, data: {} };
    await expect(client.patchMerge(configMaps, name, stale)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('applies on the server, with owners of fields', async () => {
    const mine = await client.apply(configMaps, configMap('owned', { a: 'mine' }), {
      fieldManager: 'me',
    });
    expect(mine.metadata?.managedFields?.[0]?.manager).toBe('me');
    const theirs = configMap('owned', { a: 'theirs' });
    await expect(client.apply(configMaps, theirs, { fieldManager: 'them' })).rejects.toMatchObject({
      code: 'conflict',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }],
    });
    const forced = await client.apply(configMaps, theirs, { fieldManager: 'them', force: true });
    expect(forced.data).toEqual({ a: 'theirs' });
    const without = await client.apply(configMaps, configMap('owned', {}), {
      fieldManager: 'them',
    });
    expect(without.data).toBeUndefined();
  });

  it('writes the status separately', async () => {
    const created = await client.create(services, {
      ...service('balanced'),
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const patched = await client.patchMerge(
      services,
      inDefault('balanced'),
      { spec: { ports: [] }, status },
      { subresource: 'status' },
    );
    expect(patched.spec).toEqual(created.spec);
    expect(patched.status?.loadBalancer?.ingress?.[0]?.ip).toBe('192.0.2.1');
  });

  it('reads and writes the scale', async () => {
    await client.create(deployments, {
      metadata: inDefault('scaled'),
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'scaled' } },
        template: {
          metadata: { labels: { app: 'scaled' } },
          spec: { containers: [{ name: 'a', image: 'a' }] },
        },
      },
    });
    expect(await client.getScale(deployments, inDefault('scaled'))).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 1 },
      status: { selector: 'app=scaled' },
    });
    await client.setScale(deployments, inDefault('scaled'), 0);
    expect((await client.getScale(deployments, inDefault('scaled'))).spec?.replicas ?? 0).toBe(0);
  });

  it('deletes only with matching preconditions', async () => {
    const created = await client.create(configMaps, configMap('kept'));
    const name = inDefault('kept');
    await expect(
      client.delete(configMaps, name, { preconditions: { uid: 'another' } }),
    ).rejects.toMatchObject({ code: 'conflict' });
    const { uid = '', resourceVersion = '' } = created.metadata ?? {};
    await client.delete(configMaps, name, { preconditions: { uid, resourceVersion } });
  });

  it('lists one consistent state in pages during writes', async () => {
    const namespace = 'pages';
    await client.create(namespaces, { metadata: { name: namespace } });
    for (let index = 0; index < 7; index += 1) {
      await client.create(configMaps, {
        metadata: { namespace, name: `c${index}`, labels: { l: 'x' } },
      });
    }
    const names: (string | undefined)[] = [];
    const options = { namespace, labelSelector: 'l=x', pageSize: 3 };
    for await (const page of client.pages(configMaps, options)) {
      names.push(...page.items.map(({ metadata }) => metadata?.name));
      await client.create(configMaps, {
        metadata: { namespace, generateName: 'c9-', labels: { l: 'x' } },
      });
    }
    expect(names).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
  });

  it('has the path of every built-in resource', async () => {
    for (const resource of builtInResources) {
      for await (const _ of client.pages(resource, { pageSize: 1 })) break;
    }
  });

  it('holds objects with finalizers', async () => {
    const created = await client.create(configMaps, configMap('held'));
    const held = await addFinalizer(client, configMaps, created, 'causeway.dev/test');
    await client.delete(configMaps, inDefault('held'));
    const dying = await client.get(configMaps, inDefault('held'));
    expect(dying.metadata?.deletionTimestamp).toBeDefined();
    expect(await addFinalizer(client, configMaps, dying, 'causeway.dev/late')).toBeUndefined();
    await removeFinalizer(client, configMaps, held ?? dying, 'causeway.dev/test');
    expect(await client.find(configMaps, inDefault('held'))).toBeUndefined();
  });

  it('installs a custom resource and uses it at once', async () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } },
      },
    };
    const definition: CustomResourceDefinition = {
      metadata: { name: 'widgets.test.causeway.dev' },
      spec: {
        group: 'test.causeway.dev',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
        ],
      },
    };
    const options = { clock: systemClock, signal, fieldManager: 'test' };
    await installCustomResources(client, [definition], options);
    await installCustomResources(client, [definition], options);
    const widgets = resourceOf<KubeObject & { spec?: { size?: number } }>(definition);
    const widget = await client.create(widgets, { metadata: inDefault('w'), spec: { size: 3 } });
    expect(widget.spec?.size).toBe(3);
    await expect(
      client.create(widgets, { metadata: inDefault('x'), spec: { size: 10 } }),
    ).rejects.toMatchObject({ code: 'invalid', status: 422 });
  });

  it('records Events that kubectl describe shows, with a count', async () => {
    const web = await client.create(services, service('described'));
    const controller = new AbortController();
    const recorder = new EventRecorder({
      client,
      component: 'causeway-test',
      instance: 'here',
      eventType,
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    });
    const running = recorder.run(controller.signal);
    const content = { reason: 'AddressTaken', message: 'it is taken' } as const;
    recorder.record(services, web, content);
    const written = async () => {
      const fieldSelector = 'involvedObject.name=described';
      const found: (number | undefined)[] = [];
      for await (const event of client.list(events, { fieldSelector })) found.push(event.count);
      return found;
    };
    await waitFor('the event', async () => (await written())[0] === 1);
    recorder.record(services, web, content);
    recorder.record(services, web, content);
    await waitFor('the event to be counted', async () => (await written())[0] === 3);
    controller.abort();
    await running;
    const described = await runOrThrow(
      await ensureProgram('kubectl'),
      ['describe', 'service', 'described'],
      {
        env: { KUBECONFIG: cluster.kubeconfig },
      },
    );
    expect(described).toMatch(/Warning\s+AddressTaken\s+.*\(x3 over .*causeway-test.*it is taken/);
  });
});
