import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * A path below a service's endpoint, together with its template. The template is what metrics and
 * messages show: it has no ids in it, so there are only as many as the code has routes.
 */
export interface Route {
  readonly path: string;
  readonly template: string;
}

/** Tags a template such as route`/ports/${id}/tags`. Ids are escaped and cannot climb out of the path. */
export function route(parts: TemplateStringsArray, ...ids: readonly string[]): Route {
  let path = parts[0] ?? '';
  let template = path;
  for (const [index, id] of ids.entries()) {
    const rest = parts[index + 1] ?? '';
    path += pathSegment(id) + rest;
    template += `{id}${rest}`;
  }
  return { path, template };
}

function pathSegment(id: string): string {
  // A slash would survive as %2F, which OpenStack's servers decode before they route.
  if (id === '' || id === '.' || id === '..' || id.includes('/') || !id.isWellFormed()) {
    throw new CausewayError('invalid', `${JSON.stringify(id)} cannot be part of a path`);
  }
  return encodeURIComponent(id);
}

/** The route of one object of a collection, or of what lies under it: item(route`/ports`, id, '/tags'). */
export function item(collection: Route, id: string, suffix = ''): Route {
  return {
    path: `${collection.path}/${pathSegment(id)}${suffix}`,
    template: `${collection.template}/{id}${suffix}`,
  };
}
