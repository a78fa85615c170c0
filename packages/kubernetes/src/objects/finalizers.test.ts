import { describe, expect, it } from 'vitest';
import { FakeKubeApi, failure } from '../../../../test/doubles/fake-kube-api.ts';
import { systemClock } from '@causeway/base/time/clock';
import { KubeClient } from '../client/client.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts';
import type { ObjectMeta } from './object.ts';
import { services } from './resources.ts';

const ours = 'causeway.dev/cleanup';

function setUp(metadata: ObjectMeta = {}) {
  const api = new FakeKubeApi();
  const object = api.put('services', { metadata: { namespace: 'n', name: 'web', ...metadata } });
  const client = new KubeClient({ transport: api, clock: systemClock });
  const stored = () => api.objects.get('services/n/web')?.metadata;
  return { api, client, object, stored };
}

describe('finalizers', () => {
  it('are added once and removed without changing those of others', async () => {
    const { api, client, object, stored } = setUp({ finalizers: ['other/one'] });
    const added = await addFinalizer(client, services, object, ours);
    expect(stored()?.finalizers).toEqual(['other/one', ours]);
    const before = api.requests.length;
    if (added === undefined) throw new Error('gone');
    expect(await addFinalizer(client, services, added, ours)).toBe(added);
    expect(api.requests).toHaveLength(before);
    const removed = await removeFinalizer(client, services, added, ours);
    expect(stored()?.finalizers).toEqual(['other/one']);
    expect(removed !== undefined && hasFinalizer(removed, ours)).toBe(false);
  });

  it('are retried after a conflict with another writer', async () => {
    const { api, client, object, stored } = setUp();
    api.put('services', { metadata: { ...object.metadata, finalizers: ['other/one'] } });
    await addFinalizer(client, services, object, ours);
    expect(stored()?.finalizers).toEqual(['other/one', ours]);
  });

  it('are not added to an object that is being deleted, nor to another of the same name', async () => {
    const dying = setUp({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(await addFinalizer(dying.client, services, dying.object, ours)).toBeUndefined();
    expect(dying.api.requests).toHaveLength(0);

    const replaced = setUp();
    replaced.api.remove('services', 'n', 'web');
    replaced.api.put('services', { metadata: { namespace: 'n', name: 'web' } });
    expect(await addFinalizer(replaced.client, services, replaced.object, ours)).toBeUndefined();
    expect(replaced.stored()?.finalizers).toBeUndefined();
  });

  it('need no removal from a deleted object', async () => {
    const { api, client, object } = setUp({ finalizers: [ours] });
    api.remove('services', 'n', 'web');
    expect(await removeFinalizer(client, services, object, ours)).toBeUndefined();
  });

  it('give up after repeated conflicts', async () => {
    const { api, client, object } = setUp();
    api.fault = ({ method }) => (method === 'PATCH' ? failure(409, 'Conflict') : undefined);
    await expect(addFinalizer(client, services, object, ours)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(api.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(8);
  });
});
