import { describe, expect, it } from 'vitest';
import { chooseEndpoint, type Catalog } from './catalog.ts';
import { parseEndpoint } from './endpoint.ts';

describe('parseEndpoint', () => {
  it.each([
    ['identity', 'http://h:5000', 'http://h:5000/v3', 'http://h:5000'],
    ['identity', 'http://h:5000/v3/', 'http://h:5000/v3', 'http://h:5000'],
    ['identity', 'https://h/identity', 'https://h/identity/v3', 'https://h/identity'],
    ['identity', 'https://h/identity/v2.0', 'https://h/identity/v3', 'https://h/identity'],
    ['network', 'http://h:9696/', 'http://h:9696/v2.0', 'http://h:9696'],
    ['network', 'http://h:9696/v2.0', 'http://h:9696/v2.0', 'http://h:9696'],
    [
      'network',
      'http://[2001:db8::1]:9696',
      'http://[2001:db8::1]:9696/v2.0',
      'http://[2001:db8::1]:9696',
    ],
    ['load-balancer', 'http://h:9876', 'http://h:9876/v2', 'http://h:9876'],
    [
      'load-balancer',
      'https://h/load-balancer/v2.0',
      'https://h/load-balancer/v2.0',
      'https://h/load-balancer',
    ],
    [
      'load-balancer',
      'https://h/load-balancer/v2',
      'https://h/load-balancer/v2',
      'https://h/load-balancer',
    ],
  ] as const)('%s %s', (service, text, base, root) => {
    expect(parseEndpoint(service, text)).toEqual({ base, root });
  });

  it.each(['ftp://h', 'h:5000', '', 'http://u:p@h/', 'http://h/?a=b', 'http://h/#a'])(
    'rejects %j without quoting it',
    (text) => {
      expect(() => parseEndpoint('network', text)).toThrow(/endpoint (?:is not|must not)/);
    },
  );
});

describe('chooseEndpoint', () => {
  const catalog: Catalog = [
    { type: 'network', interface: 'public', region: 'a', url: 'http://public.a' },
    { type: 'network', interface: 'internal', region: 'a', url: 'http://internal.a' },
    { type: 'network', interface: 'public', region: 'b', url: 'http://public.b' },
    { type: 'octavia', interface: 'public', region: 'a', url: 'http://lb.a' },
  ];

  it.each([
    ['network', 'public', 'b', 'http://public.b'],
    ['network', 'internal', undefined, 'http://internal.a'],
    ['network', 'admin', 'a', undefined],
    ['load-balancer', 'public', undefined, 'http://lb.a'],
    ['load-balancer', 'public', 'b', undefined],
  ] as const)('%s %s %s -> %s', (service, inter, region, url) => {
    expect(chooseEndpoint(catalog, service, { interface: inter, region })).toBe(url);
  });

  it('requires a region if there are several', () => {
    expect(() =>
      chooseEndpoint(catalog, 'network', { interface: 'public', region: undefined }),
    ).toThrow(/2 regions/);
  });
});
