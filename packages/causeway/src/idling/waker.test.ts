import { expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { ScaleDiscovery } from './scale-discovery.ts';
import { Waker } from './waker.ts';

const { signal } = new AbortController();
const target = (name: string) => ({ kind: 'Farm', name, group: 'example.com', replicas: 2 });

/** A cluster that serves Farms in one version; the test decides how their scales are read and written. */
function start(farms: Readonly<Record<string, number | 'forbidden'>>) {
  const served = { version: 'v1' };
  const scaled: string[] = [];
  const at = (resource: Resource, { name }: ObjectName) => {
    const farm = farms[name];
    if (resource.version !== served.version || farm === undefined) {
      return Promise.reject(new CausewayError('not-found', `no ${name}`));
    }
    if (farm === 'forbidden') return Promise.reject(new CausewayError('forbidden', `not ${name}`));
    return Promise.resolve({ spec: { replicas: farm } });
  };
  const client = {
    getPath: (path: string) => {
      const { version } = served;
      const resources = [
        { name: 'farms', kind: 'Farm', namespaced: true },
        { name: 'farms/scale', kind: 'Scale', namespaced: true },
      ];
      return Promise.resolve(
        path === '/apis/example.com' ? { preferredVersion: { version } } : { resources },
      );
    },
    getScale: at,
    setScale: (resource: Resource, name: ObjectName, replicas: number) => {
      scaled.push(`${resource.version} ${name.name} ${replicas}`);
      return at(resource, name);
    },
  } as unknown as KubeClient;
  const waker = new Waker({ client, discovery: new ScaleDiscovery(client) });
  const wake = async (...names: string[]) => {
    const found = await waker.start('shop', names.map(target), signal);
    const namesOf = (targets: readonly { readonly name: string }[]) =>
      targets.map(({ name }) => name);
    return {
      started: namesOf(found.started),
      running: namesOf(found.running),
      missing: namesOf(found.missing),
      failed: namesOf(found.failed.map((each) => each.target)),
    };
  };
  return { served, scaled, wake };
}

it('starts all other targets when a target fails or is missing', async () => {
  const { wake, scaled } = start({ refused: 'forbidden', asleep: 0, awake: 3 });
  expect(await wake('refused', 'gone', 'asleep', 'awake')).toEqual({
    started: ['asleep'],
    running: ['awake'],
    missing: ['gone'],
    failed: ['refused'],
  });
  expect(scaled).toEqual(['v1 asleep 2']);
});

it('finds a kind again that is served in another version since the last request', async () => {
  const { served, wake, scaled } = start({ first: 0, second: 0 });
  await wake('first');
  served.version = 'v2';
  expect(await wake('second')).toMatchObject({ started: ['second'], missing: [] });
  expect(scaled).toEqual(['v1 first 2', 'v2 second 2']);
});
