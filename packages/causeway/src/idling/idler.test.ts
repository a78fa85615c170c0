import { expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { pods, services } from '@causeway/kubernetes/objects/resources';
import { systemClock } from '@causeway/base/time/clock';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { hasIdledAt } from './annotations.ts';
import { Idler } from './idler.ts';
import type { ScaleDiscovery } from './scale-discovery.ts';

const name = { namespace: 'default', name: 'web' };
const deployments = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
const { signal } = new AbortController();

async function start(failures: CausewayError[]) {
  const client = memoryKubeClient();
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image: 'web' }];
  const deployment = await client.create<object>(deployments, {
    metadata: name,
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  const { uid = '' } = (deployment as { metadata: { uid?: string } }).metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, controller: true };
  await client.create<object>(pods, {
    metadata: { namespace: 'default', name: 'web-1', labels, ownerReferences: [owner] },
    spec: { containers },
  });
  await client.create(services, {
    metadata: name,
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  const setScale = client.setScale.bind(client);
  client.setScale = (resource: Resource, of: ObjectName, replicas: number, options) => {
    const failure = failures.shift();
    return failure === undefined
      ? setScale(resource, of, replicas, options)
      : Promise.reject(failure);
  };
  const found = { resource: deployments, hasScale: true };
  const discovery = { find: () => Promise.resolve(found) } as unknown as ScaleDiscovery;
  const idler = new Idler({ client, discovery, clock: systemClock });
  const replicas = async () => (await client.getScale(deployments, name)).spec?.replicas ?? 0;
  return { client, idler, replicas };
}

it('starts over after a concurrent write', async () => {
  const conflict = () => new CausewayError('conflict', 'it has changed');
  const { client, idler, replicas } = await start([conflict(), conflict()]);
  const { targets } = await idler.idle(name, signal);
  expect(targets).toMatchObject([{ kind: 'Deployment', replicas: 2 }]);
  expect(await replicas()).toBe(0);
  expect(hasIdledAt(await client.get(services, name))).toBe(true);
});

it('returns other errors, and finishes on the next call', async () => {
  const { idler, replicas } = await start([new CausewayError('forbidden', 'no')]);
  await expect(idler.idle(name, signal)).rejects.toThrow('no');
  expect(await replicas()).toBe(2);
  await idler.idle(name, signal);
  expect(await replicas()).toBe(0);
});
