import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * A path below a service's endpoint, with its template. Metrics and messages show the template: it contains
 * no IDs, so its number is limited by the routes in the code.
 */
export interface Route {
  readonly path: string;
  readonly template: string;
}

/** Tags a template such as route`/ports/${id}/tags`. IDs are escaped and can't leave the path. */
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
  // A slash would become %2F, which OpenStack's servers decode before they route.
  if (id === '' || id === '.' || id === '..' || id.includes('/') || !id.isWellFormed()) {
    throw new CausewayError('invalid', `${JSON.stringify(id)} cannot be part of a path`);
  }
  return encodeURIComponent(id);
}

/** The route of one object of a collection, or of a path below it: item(route`/ports`, id, '/tags'). */
export function item(collection: Route, id: string, suffix = ''): Route {
  return {
    path: `${collection.path}/${pathSegment(id)}${suffix}`,
    template: `${collection.template}/{id}${suffix}`,
  };
}
