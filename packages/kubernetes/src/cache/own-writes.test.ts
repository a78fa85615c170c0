import { beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../objects/object.ts';
import { OwnWrites } from './own-writes.ts';
import { Store } from './store.ts';

const key = 'default/web';
const at = (version: number, uid = 'u'): KubeObject => ({
  metadata: { namespace: 'default', name: 'web', uid, resourceVersion: String(version) },
});

let store: Store<KubeObject>;
let own: OwnWrites<KubeObject>;
let seen: string[];

beforeEach(() => {
  store = new Store();
  own = new OwnWrites(store);
  seen = [];
  store.put(at(1));
  own.onForeignChange((change) => {
    const version = change.type === 'deleted' ? '' : change.after.metadata?.resourceVersion;
    seen.push(`${change.type} ${version}`.trimEnd());
  });
});

const versionOf = (object: KubeObject | undefined) => object?.metadata?.resourceVersion;
const newest = () => versionOf(own.newest(key, store.get(key)));

test('a new handler gets the objects that the store has', () => {
  expect(seen).toEqual(['added 1']);
});

test('an echo after the answer is no foreign change', async () => {
  await own.write(key, () => Promise.resolve(at(2)));
  await own.write(key, () => Promise.resolve(at(3)));
  store.put(at(2));
  store.put(at(3));
  expect(seen).toEqual(['added 1']);
  store.put(at(4));
  expect(seen).toEqual(['added 1', 'updated 4']);
});

test('an echo before the answer is no foreign change', async () => {
  const answer = Promise.withResolvers<KubeObject>();
  const writing = own.write(key, () => answer.promise);
  store.put(at(2));
  answer.resolve(at(2));
  await writing;
  expect(seen).toEqual(['added 1']);
});

test('a change that another program makes during a write is a foreign change', async () => {
  const answer = Promise.withResolvers<KubeObject>();
  const writing = own.write(key, () => answer.promise);
  store.put(at(2));
  expect(seen).toEqual(['added 1']);
  answer.reject(new Error('conflict'));
  await expect(writing).rejects.toThrow('conflict');
  expect(seen).toEqual(['added 1', 'updated 2']);
});

test('a write without an answer shows up as a foreign change', async () => {
  await own.write(key, () => Promise.reject(new Error('timeout'))).catch(() => undefined);
  store.put(at(2));
  expect(seen).toEqual(['added 1', 'updated 2']);
});

test('the echo of an unexpected answer is a foreign change', async () => {
  await own.write(
    key,
    () => Promise.resolve(at(2)),
    () => false,
  );
  expect(newest()).toBe('2');
  store.put(at(2));
  expect(seen).toEqual(['added 1', 'updated 2']);
});

test('the written object is the newest until the store has a version that is as new', async () => {
  expect(newest()).toBe('1');
  await own.write(key, () => Promise.resolve(at(9)));
  await own.write(key, () => Promise.resolve(at(10)));
  expect(newest()).toBe('10');
  store.put(at(9));
  expect(newest()).toBe('10');
  store.put(at(11));
  expect(newest()).toBe('11');
});

test('an object that was deleted, or made anew under its name, is not answered with the old one', async () => {
  await own.write(key, () => Promise.resolve(at(2)));
  store.put(at(1, 'other'));
  expect(newest()).toBe('1');
  store.remove(key);
  expect(newest()).toBeUndefined();
});
