import { describe, expect, it } from 'vitest';
import { keyOf, nameFromKey } from './object.ts';
import { apiVersionOf, collectionPath, objectPath, resourceName } from './resource.ts';
import {
  builtInResources,
  deployments,
  findBuiltInResource,
  namespaces,
  services,
} from './resources.ts';

describe('paths', () => {
  it.each([
    [collectionPath(services, undefined), '/api/v1/services'],
    [collectionPath(services, 'default'), '/api/v1/namespaces/default/services'],
    [collectionPath(deployments, 'a'), '/apis/apps/v1/namespaces/a/deployments'],
    [objectPath(namespaces, { name: 'a' }), '/api/v1/namespaces/a'],
    [
      objectPath(services, { namespace: 'a', name: 'web' }, 'status'),
      '/api/v1/namespaces/a/services/web/status',
    ],
    [
      objectPath(services, { namespace: 'a', name: 'a b?c' }),
      '/api/v1/namespaces/a/services/a%20b%3Fc',
    ],
  ])('%s', (actual, expected) => expect(actual).toBe(expected));

  it.each(['..', '.', '', 'a/b'])(
    'rejects %j as a name, which would leave its path segment',
    (name) =>
      expect(() => objectPath(services, { namespace: 'default', name })).toThrow(
        'cannot be the name of an object',
      ),
  );

  it('requires the scope of the resource', () => {
    expect(() => objectPath(services, { name: 'web' })).toThrow('needs a namespace');
    expect(() => objectPath(namespaces, { namespace: 'a', name: 'b' })).toThrow(
      'are not namespaced',
    );
  });
});

describe('names', () => {
  it('writes groups as kubectl does', () => {
    expect([resourceName(services), apiVersionOf(services)]).toEqual(['services', 'v1']);
    expect([resourceName(deployments), apiVersionOf(deployments)]).toEqual([
      'deployments.apps',
      'apps/v1',
    ]);
  });

  it('finds every built-in resource by the type of its objects', () => {
    for (const resource of builtInResources) {
      expect(findBuiltInResource(apiVersionOf(resource), resource.kind)).toBe(resource);
    }
    expect(findBuiltInResource('v1', 'Deployment')).toBeUndefined();
  });

  it.each([{ name: 'node-1' }, { namespace: 'default', name: 'web' }])(
    'converts the key of %j in both directions',
    (name) => expect(nameFromKey(keyOf({ metadata: name }))).toEqual(name),
  );
});
