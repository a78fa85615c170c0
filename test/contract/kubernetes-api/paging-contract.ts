import { describe, expect, test } from 'vitest';
import type { ServerUnderTest } from './server-under-test.ts';

interface List {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

async function stage(server: ServerUnderTest, names: readonly string[]) {
  const { body } = await server.call('POST', '/api/v1/namespaces', {
    body: { metadata: { generateName: 'paging-' } },
  });
  const { name } = (body as { metadata: { name: string } }).metadata;
  const path = `/api/v1/namespaces/${name}/configmaps`;
  for (const each of names) {
    await server.call('POST', path, { body: { metadata: { name: each } } });
  }
  const list = async (query: string) => {
    const answer = await server.call('GET', `${path}?${query}`);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body as List;
  };
  return { path, list };
}

const names = ({ items }: List) => items.map(({ metadata }) => metadata.name);

/** How lists are read in pages, and at which version. */
export function pagingContract(server: () => ServerUnderTest): void {
  describe('paging', () => {
    test('all pages show the version of the first, regardless of writes in between', async () => {
      const { path, list } = await stage(server(), ['a', 'b', 'c', 'd', 'e']);
      const first = await list('limit=2');
      expect(names(first)).toEqual(['a', 'b']);
      expect(first.metadata.remainingItemCount).toBe(3);
      await server().call('DELETE', `${path}/c`);
      await server().call('POST', path, { body: { metadata: { name: 'bb' } } });
      const next = (page: List) =>
        list(`limit=2&continue=${encodeURIComponent(page.metadata.continue ?? '')}`);
      const second = await next(first);
      expect(names(second)).toEqual(['c', 'd']);
      expect(second.metadata).toMatchObject({
        resourceVersion: first.metadata.resourceVersion,
        remainingItemCount: 1,
      });
      const third = await next(second);
      expect(names(third)).toEqual(['e']);
      expect(third.metadata.continue ?? '').toBe('');
      expect(third.metadata.remainingItemCount).toBeUndefined();
      expect(names(await list(''))).toEqual(['a', 'b', 'bb', 'd', 'e']);
    });

    test('a list can be read at an earlier version', async () => {
      const { path, list } = await stage(server(), ['a', 'b']);
      const before = await list('');
      await server().call('DELETE', `${path}/a`);
      const { resourceVersion } = before.metadata;
      const then = await list(`resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
      expect(names(then)).toEqual(['a', 'b']);
      expect(then.metadata.resourceVersion).toBe(resourceVersion);
      const since = await list(
        `resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`,
      );
      expect(names(since)).toEqual(['b']);
    });

    test('a request for a future version fails after a short time', async () => {
      const { path } = await stage(server(), []);
      const answer = await server().call('GET', `${path}?resourceVersion=999999999`);
      expect(answer.status).toBe(504);
      expect(answer.body).toMatchObject({
        reason: 'Timeout',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      });
    });
  });
}
