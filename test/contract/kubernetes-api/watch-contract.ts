import { describe, expect, test } from 'vitest';
import type { OpenWatch, ServerUnderTest, WatchEvent } from './server-under-test.ts';

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

const merge = 'application/merge-patch+json';

/** One namespace of ConfigMaps, with changes in it. */
async function stage(server: ServerUnderTest) {
  const { body } = await server.call('POST', '/api/v1/namespaces', {
    body: { metadata: { generateName: 'watch-' } },
  });
  const path = `/api/v1/namespaces/${(body as Stored).metadata.name}/configmaps`;
  const stored = async (answer: Promise<{ status: number; body: unknown }>) => {
    const { status, body: object } = await answer;
    if (status > 201) throw new Error(JSON.stringify(object));
    return object as Stored;
  };
  return {
    path,
    version: async () => (await stored(server.call('GET', path))).metadata.resourceVersion,
    create: (name: string, labels: object = {}) =>
      stored(server.call('POST', path, { body: { metadata: { name, labels } } })),
    label: (name: string, labels: object) =>
      stored(
        server.call('PATCH', `${path}/${name}`, {
          body: { metadata: { labels } },
          contentType: merge,
        }),
      ),
    remove: (name: string) => server.call('DELETE', `${path}/${name}`),
    watch: (query: string, headers = {}) => server.watch(`${path}?watch=true&${query}`, headers),
  };
}

const summary = (event: WatchEvent | undefined) =>
  event === undefined ? 'end' : `${event.type} ${event.object.metadata.name}`;

async function take(watch: OpenWatch, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  while (events.length < count) {
    const event = await watch.next();
    if (event === undefined) throw new Error(`ended after ${events.map(summary).join(', ')}`);
    events.push(event);
  }
  return events;
}

/** How a watch behaves, from its first event to its end. */
export function watchContract(server: () => ServerUnderTest): void {
  describe('watch', () => {
    test('from a version: everything after it, in order, nothing before', async () => {
      const scene = await stage(server());
      await scene.create('before');
      const watch = await scene.watch(`resourceVersion=${await scene.version()}`);
      await scene.create('a');
      await scene.label('a', { x: 'y' });
      await scene.remove('before');
      await scene.remove('a');
      const events = await take(watch, 4);
      expect(events.map(summary)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED before', 'DELETED a']);
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(4);
      expect(events[1]?.object.metadata['labels']).toEqual({ x: 'y' });
      watch.close();
    });

    test('from a past version: first the missed events', async () => {
      const scene = await stage(server());
      const { metadata } = await scene.create('a');
      await scene.create('b');
      const watch = await scene.watch(`resourceVersion=${metadata.resourceVersion}`);
      expect(summary(await watch.next())).toBe('ADDED b');
      await scene.create('c');
      expect(summary(await watch.next())).toBe('ADDED c');
      watch.close();
    });

    test.each(['', 'resourceVersion=0'])('with "%s": first the existing objects', async (query) => {
      const scene = await stage(server());
      await scene.create('b');
      await scene.create('a');
      const watch = await scene.watch(query);
      const there = (await take(watch, 2)).map(summary);
      expect(there.toSorted()).toEqual(['ADDED a', 'ADDED b']);
      await scene.create('c');
      expect(summary(await watch.next())).toBe('ADDED c');
      watch.close();
    });

    test('a streamed list ends with a marked bookmark and continues as a watch', async () => {
      const scene = await stage(server());
      await scene.create('a');
      await scene.create('b');
      const watch = await scene.watch(
        'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      );
      const events = await take(watch, 3);
      expect(events.slice(0, 2).map(summary).toSorted()).toEqual(['ADDED a', 'ADDED b']);
      const bookmark = events[2];
      expect(bookmark?.type).toBe('BOOKMARK');
      expect(bookmark?.object.kind).toBe('ConfigMap');
      expect(bookmark?.object.metadata['annotations']).toEqual({
        'k8s.io/initial-events-end': 'true',
      });
      const created = await scene.create('c');
      expect(Number(created.metadata.resourceVersion)).toBeGreaterThan(
        Number(bookmark?.object.metadata.resourceVersion),
      );
      expect(summary(await watch.next())).toBe('ADDED c');
      watch.close();
    });

    test('an object that enters a selection is added, one that leaves it is deleted', async () => {
      const scene = await stage(server());
      const watch = await scene.watch(
        `labelSelector=in%3Dyes&resourceVersion=${await scene.version()}`,
      );
      await scene.create('a');
      await scene.label('a', { in: 'yes' });
      await scene.label('a', { in: 'yes', more: 'x' });
      const left = await scene.label('a', { in: 'no' });
      await scene.remove('a');
      await scene.create('b', { in: 'yes' });
      const events = await take(watch, 4);
      expect(events.map(summary)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
      expect(events[2]?.object.metadata['labels']).toEqual({ in: 'yes', more: 'x' });
      expect(events[2]?.object.metadata.resourceVersion).toBe(left.metadata.resourceVersion);
      watch.close();
    });

    test('of one object, by its name', async () => {
      const scene = await stage(server());
      await scene.create('a');
      const watch = await scene.watch('fieldSelector=metadata.name%3Da');
      expect(summary(await watch.next())).toBe('ADDED a');
      await scene.create('b');
      await scene.remove('a');
      expect(summary(await watch.next())).toBe('DELETED a');
      watch.close();
    });

    test('an update without a change is no event', async () => {
      const scene = await stage(server());
      const { metadata } = await scene.create('a', { x: 'y' });
      const watch = await scene.watch(`resourceVersion=${metadata.resourceVersion}`);
      const same = await scene.label('a', { x: 'y' });
      expect(same.metadata.resourceVersion).toBe(metadata.resourceVersion);
      await scene.create('b');
      expect(summary(await watch.next())).toBe('ADDED b');
      watch.close();
    });

    test('ends properly at its timeout', async () => {
      const scene = await stage(server());
      const watch = await scene.watch(`resourceVersion=${await scene.version()}&timeoutSeconds=1`);
      let event = await watch.next();
      while (event?.type === 'BOOKMARK') event = await watch.next();
      expect(event).toBeUndefined();
    });

    test('as rows of a table: headings with the first only', async () => {
      const scene = await stage(server());
      await scene.create('a');
      const watch = await scene.watch('', {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
      });
      await scene.create('b');
      const [first, second] = await take(watch, 2);
      expect(first?.object).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
      expect(first?.object['columnDefinitions']).toHaveLength(3);
      expect(second?.object['columnDefinitions']).toBeNull();
      expect(second?.object['rows']).toMatchObject([
        { cells: ['b', 0, expect.any(String) as string], object: { metadata: { name: 'b' } } },
      ]);
      watch.close();
    });
  });
}
