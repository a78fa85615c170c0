import { expect, test } from 'vitest';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { holdingAnnotation } from './annotations.ts';
import { formatHolding, readHolding } from './holding.ts';
import { PendingReleases } from './pending-releases.ts';

const { signal } = new AbortController();
const namespace = 'kube-system';
const legacyName = { namespace, name: 'causeway-pool-departed' };
const name = { namespace, name: 'causeway-pool-pending-releases' };

async function clientWith(data: Record<string, string>) {
  const client = memoryKubeClient();
  await client.create(configMaps, { metadata: legacyName, data }, { signal });
  return client;
}

test('lists the pending releases of 0.1.0 without a change to its ConfigMap', async () => {
  const data = { a: '{"withdrawn":true}' };
  const client = await clientWith(data);
  const releases = new PendingReleases(client, namespace);
  expect(await releases.list(signal)).toEqual([{ uid: 'a', withdrawn: true }]);
  expect((await client.get(configMaps, legacyName)).data).toEqual(data);
  expect(await client.find(configMaps, name, { signal })).toBeUndefined();
});

test('moves the pending releases of 0.1.0, also unreadable ones, and reads its ConfigMap once', async () => {
  const client = await clientWith({ a: '{"withdrawn":true}', spoiled: '{' });
  const releases = new PendingReleases(client, namespace);
  await releases.moveLegacy(signal);
  expect((await client.get(configMaps, legacyName)).data ?? {}).toEqual({});
  expect((await client.get(configMaps, name)).data).toEqual({
    a: '{"withdrawn":true}',
    spoiled: '{',
  });
  await client.patchMerge(configMaps, legacyName, { data: { late: '{"withdrawn":true}' } });
  expect(await releases.list(signal)).toEqual([{ uid: 'a', withdrawn: true }]);
});

test('a move that was interrupted keeps the newer entry', async () => {
  const client = await clientWith({ a: '{"withdrawn":false}', b: '{"withdrawn":false}' });
  const data = { a: '{"withdrawn":true}' };
  await client.create(configMaps, { metadata: name, data }, { signal });
  const releases = new PendingReleases(client, namespace);
  const both = [
    { uid: 'a', withdrawn: true },
    { uid: 'b', withdrawn: false },
  ];
  const byUid = async () =>
    (await releases.list(signal)).toSorted((one, other) => one.uid.localeCompare(other.uid));
  expect(await byUid()).toEqual(both);
  await releases.moveLegacy(signal);
  expect(await byUid()).toEqual(both);
  expect((await client.get(configMaps, legacyName)).data ?? {}).toEqual({});
});

test('reads the fencing token of a pending release of 0.1.0', async () => {
  const client = await clientWith({ a: '{"fence":7,"withdrawn":true}' });
  const releases = new PendingReleases(client, namespace);
  expect(await releases.list(signal)).toEqual([{ uid: 'a', fencingToken: 7, withdrawn: true }]);
});

test('reads the fencing token of a holding of 0.1.0, and writes it under its new name', () => {
  const stored = { version: 1, uid: 'u', announcer: 'plain', addresses: [], fence: 7 };
  const annotations = { [holdingAnnotation]: JSON.stringify(stored) };
  const holding = readHolding({ metadata: { uid: 'u', annotations } });
  expect(holding).toEqual({ uid: 'u', announcer: 'plain', addresses: [], fencingToken: 7 });
  const { fence: fencingToken, ...others } = stored;
  expect(holding === undefined ? {} : JSON.parse(formatHolding(holding))).toEqual({
    ...others,
    fencingToken,
  });
});
