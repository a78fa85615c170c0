import { expect, test } from 'vitest';
import { Router } from './router.ts';

const router = new Router<string>();
router.add('GET', '/v1/sites', 'sites');
router.add('PUT', '/v1/sites/{site}', 'set');
router.add('GET', '/v1/sites/{site}/pools/{pool}', 'pool');
router.add('GET', '/v1/sites/all/{what}', 'all');

test.each([
  ['GET', '/v1/sites', 'sites', {}],
  ['HEAD', '/v1/sites', 'sites', {}],
  ['PUT', '/v1/sites/east', 'set', { site: 'east' }],
  ['PUT', '/v1/sites/a%2Fb', 'set', { site: 'a/b' }],
  ['GET', '/v1/sites/east/pools/__proto__', 'pool', { site: 'east', pool: '__proto__' }],
  ['GET', '/v1/sites/all/pools', 'all', { what: 'pools' }],
  ['GET', '/v1/sites/all/pools/p', 'pool', { site: 'all', pool: 'p' }],
])('routes %s %s to %s', (method, path, target, params) => {
  expect(router.find(method, path)).toEqual({ target, params });
});

test.each([
  ['POST', '/v1/sites'],
  ['HEAD', '/v1/sites/east'],
  ['GET', '/v1/sites/'],
  ['GET', '/V1/sites'],
  ['PUT', '/v1/sites/'],
  ['POST', `/v1/sites/${'x'.repeat(101)}`],
  ['GET', '/v1/sites/../sites'],
  ['GET', '//v1/sites'],
])('finds no route for %s %s', (method, path) => {
  expect(router.find(method, path)).toBeUndefined();
});

test('rejects a malformed escape and a long parameter', () => {
  expect(() => router.find('PUT', `/v1/sites/${'x'.repeat(101)}`)).toThrow('longer than 100');
  expect(() => router.find('PUT', '/v1/sites/%zz')).toThrow('malformed escape');
});
