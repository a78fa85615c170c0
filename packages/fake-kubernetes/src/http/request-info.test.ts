import { describe, expect, test } from 'vitest';
import { parseResourcePath } from './request-info.ts';

describe('parseResourcePath', () => {
  const core = { group: '', version: 'v1' };
  const apps = { group: 'apps', version: 'v1' };
  test.each([
    ['/api/v1/services', { ...core, plural: 'services' }],
    ['/api/v1/nodes/n1/status', { ...core, plural: 'nodes', name: 'n1', subresource: 'status' }],
    ['/api/v1/namespaces', { ...core, plural: 'namespaces' }],
    ['/api/v1/namespaces/a', { ...core, plural: 'namespaces', name: 'a' }],
    [
      '/api/v1/namespaces/a/finalize',
      { ...core, plural: 'namespaces', name: 'a', subresource: 'finalize' },
    ],
    ['/api/v1/namespaces/a/pods', { ...core, plural: 'pods', namespace: 'a' }],
    [
      '/api/v1/namespaces/a/events/b%3Ac',
      { ...core, plural: 'events', namespace: 'a', name: 'b:c' },
    ],
    [
      '/apis/apps/v1/namespaces/a/deployments/d/scale',
      { ...apps, plural: 'deployments', namespace: 'a', name: 'd', subresource: 'scale' },
    ],
    ['/apis/apps/v1', undefined],
    ['/api', undefined],
    ['/healthz', undefined],
    ['/api/v1/namespaces/a/pods/p/log/x', undefined],
    ['/api/v1/pods/%zz', undefined],
  ])('%s', (path, expected) => {
    expect(parseResourcePath(path)).toEqual(expected);
  });
});
