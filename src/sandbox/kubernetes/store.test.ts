import { describe, expect, test } from 'vitest';
import type { KubeObject } from './object.ts';
import { type Change, ObjectStore } from './store.ts';

const service = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name, uid: name, resourceVersion: '', creationTimestamp: '' },
});

describe('ObjectStore', () => {
  test('lists by namespace and name, whatever the order of insertion', () => {
    const store = new ObjectStore();
    for (const name of ['b', 'a', 'c']) store.insert('services', service('two', name));
    store.insert('services', service('one', 'z'));
    expect(store.list('services').map((object) => object.metadata.name)).toEqual([
      'z',
      'a',
      'b',
      'c',
    ]);
    expect(store.list('services', 'one')).toHaveLength(1);
    expect(store.list('pods')).toEqual([]);
  });

  test('numbers the changes of all resources with one counter', () => {
    const store = new ObjectStore({ firstVersion: 10 });
    const first = store.insert('services', service('a', 'x'));
    const second = store.insert('pods', service('a', 'y'));
    expect([first.metadata.resourceVersion, second.metadata.resourceVersion]).toEqual(['11', '12']);
    expect(store.version).toBe(12);
  });

  test('a watch replays what it missed and then follows', () => {
    const store = new ObjectStore();
    const first = store.insert('services', service('a', 'x'));
    store.insert('services', service('a', 'y'));
    const seen: Change[] = [];
    const watch = store.watch('services', Number(first.metadata.resourceVersion), (change) =>
      seen.push(change),
    );
    const changed = store.replace('services', first);
    store.remove('services', changed);
    watch.close();
    store.insert('services', service('a', 'unseen'));
    expect(seen.map(({ type, version, object }) => [type, version, object.metadata.name])).toEqual([
      ['ADDED', 3, 'y'],
      ['MODIFIED', 4, 'x'],
      ['DELETED', 5, 'x'],
    ]);
    expect(seen[2]?.object.metadata.resourceVersion).toBe('5');
    expect(seen[1]?.previous).toBe(first);
  });

  test('a watch from before the history is told that it expired', () => {
    const store = new ObjectStore({ historyLimit: 2 });
    for (let index = 0; index < 6; index += 1) store.insert('services', service('a', `${index}`));
    expect(() => store.watch('services', 2, () => {})).toThrow('too old resource version');
    const seen: Change[] = [];
    store.watch('services', 5, (change) => seen.push(change));
    expect(seen.map((change) => change.version)).toEqual([6, 7]);
    store.compact();
    expect(() => store.watch('services', 6, () => {})).toThrow('too old resource version');
  });
});
