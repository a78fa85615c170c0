import { expect, test } from 'vitest';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { PendingReleases } from './pending-releases.ts';

const { signal } = new AbortController();

test('keeps a pending release until it is removed, and does not touch an unreadable one', async () => {
  const client = memoryKubeClient();
  const departures = new PendingReleases(client, 'kube-system');
  expect(await departures.list(signal)).toEqual([]);
  const announced = { by: 'kube-vip', namespace: 'shop', name: 'web', wasSeen: true } as const;
  const first = { uid: 'a', fence: 7, withdrawn: true, announced };
  await departures.add(first, signal);
  await departures.add({ uid: 'b', withdrawn: false }, signal);
  await departures.add(first, signal);
  const name = { namespace: 'kube-system', name: 'causeway-pool-departed' };
  await client.patchMerge(configMaps, name, { data: { spoiled: '{' } });
  expect(await departures.list(signal)).toEqual([first, { uid: 'b', withdrawn: false }]);
  await departures.remove(first, signal);
  await departures.remove(first, signal);
  expect(await departures.list(signal)).toEqual([{ uid: 'b', withdrawn: false }]);
  expect((await client.get(configMaps, name)).data).toHaveProperty('spoiled');
});

test('mayBeAnnounced stays true until no pending release is announced', async () => {
  const departures = new PendingReleases(memoryKubeClient(), 'kube-system');
  expect(departures.mayBeAnnounced).toBe(true);
  await departures.list(signal);
  expect(departures.mayBeAnnounced).toBe(false);
  await departures.add({ uid: 'reported-later', withdrawn: true }, signal);
  expect(departures.mayBeAnnounced).toBe(false);
  const announced = { by: 'metallb', namespace: 'shop', name: 'web', wasSeen: true } as const;
  const departure = { uid: 'a', withdrawn: false, announced };
  const reading = departures.list(signal);
  await departures.add(departure, signal);
  await reading;
  expect(departures.mayBeAnnounced).toBe(true);
  await departures.list(signal);
  expect(departures.mayBeAnnounced).toBe(true);
  await departures.remove(departure, signal);
  expect(departures.mayBeAnnounced).toBe(false);
});
