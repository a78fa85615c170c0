import { expect, it } from 'vitest';
import { resolveName } from './resolve-name.ts';

const { signal } = new AbortController();
const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
const answering =
  (...answers: { address: string; ttl: number }[]) =>
  () =>
    Promise.resolve(answers);
const none = failing('ENODATA');
const cancel = () => {};

it('returns both families, with the shorter TTL', async () => {
  const resolve4 = answering({ address: '192.0.2.1', ttl: 60 });
  const resolve6 = answering({ address: '2001:db8::1', ttl: 20 });
  const found = await resolveName('a.example', signal, { resolve4, resolve6, cancel });
  expect(found).toEqual({ addresses: ['192.0.2.1', '2001:db8::1'], ttlMs: 20_000 });
});

it('accepts a name with one family', async () => {
  const resolve4 = answering({ address: '192.0.2.1', ttl: 60 });
  const found = await resolveName('a.example', signal, { resolve4, resolve6: none, cancel });
  expect(found).toEqual({ addresses: ['192.0.2.1'], ttlMs: 60_000 });
});

it.each([
  ['has no addresses', none, none],
  ['has empty answers', answering(), answering()],
])('fails when a name %s', async (_, resolve4, resolve6) => {
  const resolving = resolveName('a.example', signal, { resolve4, resolve6, cancel });
  await expect(resolving).rejects.toThrow('a.example has no address');
});

it('fails when one family could not be resolved', async () => {
  const resolve4 = answering({ address: '192.0.2.1', ttl: 60 });
  const resolve6 = failing('ESERVFAIL');
  const resolving = resolveName('a.example', signal, { resolve4, resolve6, cancel });
  await expect(resolving).rejects.toThrow('ESERVFAIL');
});

it('stops when the signal fires', async () => {
  const stop = new AbortController();
  const asked = Promise.withResolvers<never>();
  const resolver = {
    resolve4: () => asked.promise,
    resolve6: none,
    cancel: () => asked.reject(new Error('cancelled')),
  };
  const resolving = resolveName('a.example', stop.signal, resolver);
  stop.abort();
  await expect(resolving).rejects.toThrow('cancelled');
});
