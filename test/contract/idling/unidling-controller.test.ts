import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idledAt, unidleTargets } from '../../../packages/causeway/src/idling/annotations.ts';
import { Idler } from '../../../packages/causeway/src/idling/idler.ts';
import { listIdle } from '../../../packages/causeway/src/idling/list-idle.ts';
import { ScaleDiscovery } from '../../../packages/causeway/src/idling/scale-discovery.ts';
import { idlingSettings } from '../../../packages/causeway/src/idling/settings.ts';
import { UnidlingController } from '../../../packages/causeway/src/idling/unidling-controller.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import {
  deployments,
  events,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, connectionTo } from '../kube-client/cluster.ts';
import { LiveCluster, type Workspace } from '../kubernetes-live/live-cluster.ts';
import { addNode, sleepyDeployment, webService } from './objects.ts';

const signal = new AbortController().signal;

describe.runIf(await isAvailable(() => prepareKubernetes({ controllerManager: true }))).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('the unidling controller on the %s cluster', (_, start) => {
  let cluster: LiveCluster;
  let client: KubeClient;
  let idler: Idler;
  const recorded: string[] = [];

  beforeAll(async () => {
    cluster = await start();
    client = clientFor(await connectionTo(cluster.server));
    await addNode(cluster);
    idler = new Idler({ client, discovery: new ScaleDiscovery(client), clock: systemClock });
  });
  afterAll(async () => {
    await client.close();
    await cluster.server.stop();
  });

  /** Runs a controller while the work lasts. */
  async function withController(work: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const controller = new UnidlingController({
      client,
      recordEvent: (service, { reason }) => recorded.push(`${service.metadata?.name} ${reason}`),
      settings: idlingSettings.parse({}),
      workers: 4,
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    });
    const running = controller.run(stop.signal);
    try {
      await Promise.race([work(), running]);
    } finally {
      stop.abort();
      await running.catch(() => {});
    }
  }

  async function needPods(namespace: string, name: string, time = Date.now()): Promise<void> {
    const second = new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
    await client.create(events, {
      metadata: { namespace, generateName: `${name}-` },
      involvedObject: { kind: 'Service', namespace, name },
      type: 'Normal',
      reason: 'NeedPods',
      message: `The service-port ${name}: needs pods.`,
      firstTimestamp: second,
      lastTimestamp: second,
      count: 1,
      source: { component: 'test' },
    });
  }

  const replicas = async (namespace: string, name: string) =>
    (await client.getScale(deployments, { namespace, name })).spec?.replicas ?? 0;
  const isAwake = async (space: Workspace, names: readonly string[]) => {
    const asleep = await listIdle(client, space.namespace, signal);
    return names.every((name) => !asleep.some(({ service }) => service === name));
  };

  test('many Services wake at once, including those that were requested before it started', async () => {
    const space = await cluster.workspace('many');
    const names = Array.from({ length: 12 }, (_none, index) => `web-${index}`);
    for (const name of names) {
      await space.create('services', webService(name));
      await space.create('deployments', sleepyDeployment(name, 1));
    }
    await space.until('pods', 'pods', (all) => all.length === names.length);
    for (const name of names) await idler.idle({ namespace: 'many', name }, signal);
    for (const name of names.slice(0, 6)) await needPods('many', name);
    await withController(async () => {
      for (const name of names.slice(6)) await needPods('many', name);
      await space.runPodsUntil('all to be awake', () => isAwake(space, names));
      for (const words of ['web-0 Waking', 'web-11 Woken']) {
        await waitFor(`${words} to be recorded`, () => recorded.includes(words));
      }
    });
    for (const name of names) expect(await replicas('many', name)).toBe(1);
  });

  test('a request from before the idling wakes nothing, a new one does', async () => {
    const space = await cluster.workspace('again');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 2));
    await space.create('services', webService('other'));
    await space.create('deployments', sleepyDeployment('other', 1));
    await space.until('pods', 'pods', (all) => all.length === 3);
    await needPods('again', 'web', Date.now() - 60_000);
    // Marks and Events have whole seconds; an event within the same second counts as a request.
    const second = Math.floor(Date.now() / 1000);
    await waitFor('the next second', () => Math.floor(Date.now() / 1000) > second);
    for (const name of ['web', 'other']) await idler.idle({ namespace: 'again', name }, signal);
    await withController(async () => {
      await needPods('again', 'other');
      await space.runPodsUntil('the other to wake', () => isAwake(space, ['other']));
      expect(await replicas('again', 'web')).toBe(0);
      await needPods('again', 'web');
      await space.runPodsUntil('it to wake', () => isAwake(space, ['web']));
    });
    expect(await replicas('again', 'web')).toBe(2);
  });

  test('the mark stays until a pod is ready, so that proxies keep holding', async () => {
    const space = await cluster.workspace('slow');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 1));
    await space.until('the pod', 'pods', (all) => all.length === 1);
    await idler.idle({ namespace: 'slow', name: 'web' }, signal);
    await withController(async () => {
      await needPods('slow', 'web');
      await space.until('a pod that is not ready', 'pods', (all) => all.length === 1);
      expect(await isAwake(space, ['web'])).toBe(false);
      await space.runPodsUntil('it to wake', () => isAwake(space, ['web']));
    });
  });

  test('reports workloads that were deleted in between, and starts the rest', async () => {
    const space = await cluster.workspace('gone');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 1));
    await space.until('the pod', 'pods', (all) => all.length === 1);
    await idler.idle({ namespace: 'gone', name: 'web' }, signal);
    const path = { namespace: 'gone', name: 'web' };
    const { metadata } = await client.get(services, path);
    const targets = JSON.parse(metadata?.annotations?.[unidleTargets] ?? '[]') as object[];
    const more = [...targets, { kind: 'Deployment', name: 'nobody', group: 'apps', replicas: 1 }];
    await client.patchMerge(services, path, {
      metadata: { annotations: { [unidleTargets]: JSON.stringify(more) } },
    });
    recorded.length = 0;
    await withController(async () => {
      await needPods('gone', 'web');
      await space.runPodsUntil('it to wake', () => isAwake(space, ['web']));
      for (const words of ['web WakeTargetMissing', 'web Woken']) {
        await waitFor(`${words} to be recorded`, () => recorded.includes(words));
      }
    });
  });

  test('the mark of a very old oc is copied to the Service', async () => {
    const space = await cluster.workspace('old-oc');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 0));
    await space.untilObject('the Endpoints', 'endpoints', 'web', () => true);
    await space.patch('endpoints', 'web', {
      metadata: {
        annotations: {
          [idledAt]: '2020-01-01T00:00:00Z',
          [unidleTargets]: '[{"kind":"Deployment","name":"web","group":"apps","replicas":2}]',
        },
      },
    });
    await withController(async () => {
      await space.untilObject(
        'the mark on the Service',
        'services',
        'web',
        (service) => service.metadata.annotations?.[idledAt] === '2020-01-01T00:00:00Z',
      );
      await needPods('old-oc', 'web');
      await space.runPodsUntil('it to wake', () => isAwake(space, ['web']));
    });
    expect(await replicas('old-oc', 'web')).toBe(2);
  });
});
