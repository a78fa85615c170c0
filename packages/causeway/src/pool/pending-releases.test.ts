import { expect, test } from 'vitest';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { PendingReleases } from './pending-releases.ts';

const { signal } = new AbortController();

test('keeps a pending release until it is removed, and does not touch an unreadable one', async () => {
  const client = memoryKubeClient();
  const releases = new PendingReleases(client, 'kube-system');
  expect(await releases.list(signal)).toEqual([]);
  const announced = { by: 'kube-vip', namespace: 'shop', name: 'web', wasSeen: true } as const;
  const first = { uid: 'a', fencingToken: 7, withdrawn: true, announced };
  await releases.add(first, signal);
  await releases.add({ uid: 'b', withdrawn: false }, signal);
  await releases.add(first, signal);
  const name = { namespace: 'kube-system', name: 'causeway-pool-pending-releases' };
  await client.patchMerge(configMaps, name, { data: { spoiled: '{' } });
  expect(await releases.list(signal)).toEqual([first, { uid: 'b', withdrawn: false }]);
  await releases.remove(first, signal);
  await releases.remove(first, signal);
  expect(await releases.list(signal)).toEqual([{ uid: 'b', withdrawn: false }]);
  expect((await client.get(configMaps, name)).data).toHaveProperty('spoiled');
});

test('mayBeAnnounced stays true until no pending release is announced', async () => {
  const releases = new PendingReleases(memoryKubeClient(), 'kube-system');
  expect(releases.mayBeAnnounced).toBe(true);
  await releases.list(signal);
  expect(releases.mayBeAnnounced).toBe(false);
  await releases.add({ uid: 'reported-later', withdrawn: true }, signal);
  expect(releases.mayBeAnnounced).toBe(false);
  const announced = { by: 'metallb', namespace: 'shop', name: 'web', wasSeen: true } as const;
  const pending = { uid: 'a', withdrawn: false, announced };
  const reading = releases.list(signal);
  await releases.add(pending, signal);
  await reading;
  expect(releases.mayBeAnnounced).toBe(true);
  await releases.list(signal);
  expect(releases.mayBeAnnounced).toBe(true);
  await releases.remove(pending, signal);
  expect(releases.mayBeAnnounced).toBe(false);
});
