import { describe, expect, test } from 'vitest';
import type { KubeObject } from './object.ts';
import { type Change, ObjectStore } from './store.ts';

const service = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name, uid: name, resourceVersion: '', creationTimestamp: '' },
});

describe('ObjectStore', () => {
  test('lists by namespace and name, independently of the insertion order', () => {
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

  test('replays missed changes in a watch and then follows', () => {
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

  test('rejects a watch from before the history as expired', () => {
    const store = new ObjectStore({ historyLimit: 2 });
    for (let index = 0; index < 6; index += 1) store.insert('services', service('a', `${index}`));
    expect(() => store.watch('services', 2, () => {})).toThrow('too old resource version');
    const seen: Change[] = [];
    store.watch('services', 5, (change) => seen.push(change));
    expect(seen.map((change) => change.version)).toEqual([6, 7]);
    store.compact();
    expect(() => store.watch('services', 6, () => {})).toThrow('too old resource version');
  });

  test('lists the objects at an earlier version', () => {
    const store = new ObjectStore();
    const x = store.insert('services', service('a', 'x'));
    store.insert('services', service('a', 'y'));
    const then = store.version;
    store.replace('services', x);
    store.remove('services', service('a', 'y'));
    store.insert('services', service('a', 'z'));
    const shown = (objects: readonly KubeObject[]) =>
      objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
    expect(shown(store.listAt('services', then))).toEqual(['x@2', 'y@3']);
    expect(shown(store.list('services'))).toEqual(['x@4', 'z@6']);
    store.compact();
    expect(() => store.listAt('services', then)).toThrow('too old resource version');
  });

  test("notifies each listener once of a listener's write, after the change that caused it", () => {
    const store = new ObjectStore();
    const seen: string[] = [];
    store.watch('services', 0, ({ object }) => {
      if (object.metadata.name !== 'x') return;
      store.insert('services', service('a', 'follow-up'));
      store.watch('services', 0, ({ object }) => seen.push(`late ${object.metadata.name}`));
    });
    store.watch('services', 0, ({ object }) => seen.push(object.metadata.name));
    store.insert('services', service('a', 'x'));
    expect(seen).toEqual(['late x', 'late follow-up', 'x', 'follow-up']);
  });
});
