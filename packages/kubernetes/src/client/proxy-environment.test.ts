import { describe, expect, it } from 'vitest';
import { proxyFor } from './proxy-environment.ts';

const proxy = 'http://proxy.example:3128';

describe('proxyFor', () => {
  it.each([
    ['https://api.example:6443', {}, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: proxy }, proxy],
    ['https://api.example:6443', { https_proxy: proxy }, proxy],
    ['http://api.example', { HTTPS_PROXY: proxy }, undefined],
    ['http://api.example', { HTTP_PROXY: 'proxy.example:3128' }, proxy],
    ['https://127.0.0.1:6443', { HTTPS_PROXY: proxy }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
  ])('%s with %j goes through %s', (target, env, expected) =>
    expect(proxyFor(new URL(target), env)).toBe(expected),
  );

  it.each([
    ['https://api.example', '*', true],
    ['https://api.example', 'example', true],
    ['https://example', 'example', true],
    ['https://example', '.example', false],
    ['https://api.example', '.example', true],
    ['https://api.example', '*.example', true],
    ['https://notexample', 'example', false],
    ['https://api.example:6443', 'api.example:6443', true],
    ['https://api.example:6443', 'api.example:443', false],
    ['https://api.example', 'api.example:443', true],
    ['https://10.1.2.3', '10.0.0.0/8', true],
    ['https://11.1.2.3', '10.0.0.0/8', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://10.1.2.3:6443', '10.1.2.3:6443', true],
    ['https://[2001:db8::1]', '2001:db8::/32', true],
    ['https://[2001:db8::1]', '2001:db8::1', true],
    ['https://api.example', ' other , api.example ', true],
    ['https://api.example', 'nonsense/33', false],
  ])('%s with NO_PROXY=%s is exempt: %s', (target, exempt, expected) =>
    expect(proxyFor(new URL(target), { HTTPS_PROXY: proxy, NO_PROXY: exempt })).toBe(
      expected ? undefined : proxy,
    ),
  );
});
