import { describe, expect, it } from 'vitest';
import type { Service } from '../objects/core-objects.ts';
import { Store, whenSynced, type Change } from './store.ts';

const never = () => undefined;

function service(
  name: string,
  version: number,
  extra: { uid?: string; ip?: string } = {},
): Service {
  return {
    metadata: {
      namespace: 'default',
      name,
      uid: extra.uid ?? name,
      resourceVersion: String(version),
    },
    spec: { clusterIP: extra.ip ?? '10.0.0.1' },
  };
}

const mapOf = (...services: Service[]) =>
  new Map(services.map((each) => [`default/${each.metadata?.name ?? ''}`, each]));

function recorded(store: Store<Service, 'ip'>): string[] {
  const seen: string[] = [];
  store.onChange((change) => seen.push(describeChange(change)));
  return seen;
}

function describeChange(change: Change<Service>): string {
  const version = (object: Service) => object.metadata?.resourceVersion ?? '';
  if (change.type === 'added') return `+${change.key}@${version(change.after)}`;
  if (change.type === 'deleted') return `-${change.key}@${version(change.before)}`;
  return `${change.key}@${version(change.before)}>${version(change.after)}`;
}

const makeStore = () =>
  new Store<Service, 'ip'>({ indexes: { ip: ({ spec }) => [spec?.clusterIP ?? ''] } });

describe('Store', () => {
  it('reports the difference between its old and its new contents', async () => {
    const store = makeStore();
    const seen = recorded(store);
    await store.replace(mapOf(service('a', 1), service('b', 2), service('c', 3)), never);
    expect(seen.splice(0)).toEqual(['+default/a@1', '+default/b@2', '+default/c@3']);
    await store.replace(mapOf(service('a', 1), service('b', 5), service('d', 6)), never);
    expect(seen).toEqual(['-default/c@3', 'default/b@2>5', '+default/d@6']);
    expect([...store.keys()].sort()).toEqual(['default/a', 'default/b', 'default/d']);
  });

  it('treats objects that it does not keep as deleted', async () => {
    const store = new Store<Service, 'ip'>({
      indexes: { ip: ({ spec }) => [spec?.clusterIP ?? ''] },
      keeps: ({ spec }) => spec?.clusterIP !== 'None',
    });
    const seen = recorded(store);
    store.put(service('a', 1));
    store.put(service('b', 1, { ip: 'None' }));
    store.put(service('a', 2, { ip: 'None' }));
    expect(seen.splice(0)).toEqual(['+default/a@1', '-default/a@1']);
    await store.replace(mapOf(service('a', 3), service('b', 3)), never);
    await store.replace(mapOf(service('a', 4, { ip: 'None' }), service('b', 3)), never);
    expect(seen).toEqual(['+default/a@3', '+default/b@3', '-default/a@3']);
    expect(store.byIndex('ip', '10.0.0.1')).toHaveLength(1);
  });

  it('reports another object under the same name as a deletion and an addition', () => {
    const store = makeStore();
    const seen = recorded(store);
    store.put(service('a', 1));
    store.put(service('a', 2, { uid: 'other' }));
    expect(seen).toEqual(['+default/a@1', '-default/a@1', '+default/a@2']);
  });

  it('reports nothing for unchanged objects', () => {
    const store = makeStore();
    const seen = recorded(store);
    store.put(service('a', 1));
    store.put(service('a', 1));
    store.remove('default/b');
    expect(seen).toEqual(['+default/a@1']);
  });

  it('keeps its indexes up to date', async () => {
    const store = makeStore();
    const names = (ip: string) => store.byIndex('ip', ip).map(({ metadata }) => metadata?.name);
    store.put(service('a', 1, { ip: '10.0.0.1' }));
    store.put(service('b', 2, { ip: '10.0.0.1' }));
    expect(names('10.0.0.1')).toEqual(['a', 'b']);
    store.put(service('a', 3, { ip: '10.0.0.2' }));
    expect([names('10.0.0.1'), names('10.0.0.2')]).toEqual([['b'], ['a']]);
    store.remove('default/b');
    expect(names('10.0.0.1')).toEqual([]);
    await store.replace(mapOf(), never);
    expect(names('10.0.0.2')).toEqual([]);
  });

  it('is synced after its first load, when the handlers have received all of it', async () => {
    const store = makeStore();
    const seen = recorded(store);
    const syncedWith = store.synced.then(() => seen.length);
    expect(store.isSynced).toBe(false);
    await store.replace(mapOf(service('a', 1), service('b', 2)), never);
    expect(await syncedWith).toBe(2);
    expect(store.isSynced).toBe(true);
  });

  it('calls a late handler once for each existing object, also during a load', async () => {
    const store = makeStore();
    const late: string[] = [];
    let pauses = 0;
    await store.replace(mapOf(service('a', 1), service('b', 2)), () => {
      pauses += 1;
      if (pauses === 1) store.onChange((change) => late.push(describeChange(change)));
      return Promise.resolve();
    });
    expect(late).toEqual(['+default/a@1', '+default/b@2']);
  });

  it('continues when a handler throws, and stops calling a removed one', () => {
    const store = makeStore();
    store.onChange(() => {
      throw new Error('broken handler');
    });
    const seen: string[] = [];
    const leave = store.onChange((change) => seen.push(describeChange(change)));
    store.put(service('a', 1));
    leave();
    store.put(service('a', 2));
    expect(seen).toEqual(['+default/a@1']);
  });
});

describe('whenSynced', () => {
  it('waits for all stores', async () => {
    const [one, two] = [makeStore(), makeStore()];
    const { signal } = new AbortController();
    const waiting = whenSynced([one, two], signal).then(() => [one.isSynced, two.isSynced]);
    await one.replace(mapOf(), never);
    await two.replace(mapOf(), never);
    expect(await waiting).toEqual([true, true]);
  });

  it('rejects when the signal aborts', async () => {
    const controller = new AbortController();
    const waiting = whenSynced([makeStore()], controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});
