import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeObject, ObjectName } from './object.ts';

declare const objectType: unique symbol;

/**
 * The API location of objects of one kind. The type parameter exists only for the compiler: with it
 * `client.get(services, …)` returns a Service.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly [objectType]?: T;
}

export function defineResource<T extends KubeObject>(
  descriptor: Omit<Resource<T>, typeof objectType>,
): Resource<T> {
  return Object.freeze({ ...descriptor });
}

/** `v1` or `apps/v1`, as in objects. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `services` or `deployments.apps`, as kubectl and our metrics write it. */
export function resourceName(resource: Resource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** The path of a collection: of one namespace, or with `undefined` of the whole cluster. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root =
    resource.group === ''
      ? `/api/${resource.version}`
      : `/apis/${resource.group}/${resource.version}`;
  if (namespace === undefined || namespace === '') return `${root}/${resource.plural}`;
  if (!resource.namespaced) {
    throw new CausewayError('invalid', `${resourceName(resource)} are not namespaced`);
  }
  return `${root}/namespaces/${pathSegment(namespace)}/${resource.plural}`;
}

/** The path of one object, or of one of its subresources. */
export function objectPath(resource: Resource, name: ObjectName, subresource?: string): string {
  if (resource.namespaced && (name.namespace === undefined || name.namespace === '')) {
    throw new CausewayError(
      'invalid',
      `${resource.kind} ${name.name} needs a namespace: ${resourceName(resource)} are namespaced`,
    );
  }
  const path = `${collectionPath(resource, name.namespace)}/${pathSegment(name.name)}`;
  return subresource === undefined ? path : `${path}/${pathSegment(subresource)}`;
}

/** Names in URLs come from outside: none may leave its path segment. */
function pathSegment(text: string): string {
  const climbs = text === '' || text === '.' || text === '..' || text.includes('/');
  if (climbs || !text.isWellFormed()) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} cannot be the name of an object`);
  }
  return encodeURIComponent(text);
}
