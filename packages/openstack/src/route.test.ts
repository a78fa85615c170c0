import { describe, expect, it } from 'vitest';
import { item, route } from './route.ts';

describe('route', () => {
  it('keeps IDs out of the template and escapes them in the path', () => {
    expect(route`/ports/${'a b?c#d'}/tags`).toEqual({
      path: '/ports/a%20b%3Fc%23d/tags',
      template: '/ports/{id}/tags',
    });
    expect(item(route`/ports`, 'x', '/tags')).toEqual({
      path: '/ports/x/tags',
      template: '/ports/{id}/tags',
    });
  });

  it.each(['', '.', '..', '../networks', 'a/b'])('rejects %j', (id) => {
    expect(() => route`/ports/${id}`).toThrow(/cannot be part of a path/);
  });
});
