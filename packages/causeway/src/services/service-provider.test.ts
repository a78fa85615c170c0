import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { Store } from '@causeway/kubernetes/cache/store';
import { discardLog as log } from '@causeway/base/observability/log';
import { MemoryProvider } from './memory-provider.testing.ts';
import type { ProviderHost } from './provider.ts';
import { providerForServices } from './service-provider.ts';

const web: Service = {
  metadata: { namespace: 'shop', name: 'web', uid: 'u1', resourceVersion: '1' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
};

/** Keeps the host that the controller passes to it. */
class Observer extends MemoryProvider {
  host: ProviderHost | undefined;

  override run(host: ProviderHost): Promise<void> {
    this.host = host;
    return Promise.resolve();
  }
}

test('a provider of frontends sees the Services of the cluster as frontends', async () => {
  const provider = new Observer({ name: 'gateway' });
  const services = new Store<Service>();
  services.put(web);
  const queued: string[] = [];
  await providerForServices(provider).run(
    {
      objects: services,
      providerOf: ({ name }) => `provider of ${name}`,
      enqueue: (key) => queued.push(key),
      recordEvent: () => {},
      removeFinalizer: () => Promise.resolve(),
    },
    new AbortController().signal,
  );
  const { host } = provider;
  expect(host?.objects.get('shop/web')).toMatchObject({
    owner: { uid: 'u1' },
    exposure: 'external',
  });
  expect(host?.objects.get('shop/none')).toBeUndefined();
  expect([...(host?.objects.values() ?? [])].map(({ owner }) => owner.name)).toEqual(['web']);
  const changed: string[] = [];
  host?.objects.onChange(({ key }) => changed.push(key));
  services.put({ metadata: { namespace: 'shop', name: 'mail' } });
  expect(changed).toEqual(['shop/web', 'shop/mail']);
  host?.enqueue('shop/web');
  expect(queued).toEqual(['shop/web']);
  expect(host?.providerOf({ namespace: 'shop', name: 'web', uid: 'u1' })).toBe('provider of web');
});

test('a provider of frontends serves a Service', async () => {
  const provider = providerForServices(new MemoryProvider({ name: 'gateway' }));
  const signal = new AbortController().signal;
  const context = { signal, log, annotate: () => Promise.resolve(), recordEvent: () => {} };
  expect(provider.finalizer).toBe('causeway.dev/memory-cleanup');
  expect(provider.match(web)).toBe('if-default');
  expect(provider.loadBalancerName(web)).toBe('shop/web');
  const ready = { kind: 'ready', ingress: [{ ip: '192.0.2.1' }] };
  expect(await provider.ensure(web, context)).toMatchObject(ready);
  expect(await provider.update(web, context)).toMatchObject(ready);
  const owner = { namespace: 'shop', name: 'web', uid: 'u1' };
  expect(provider.ownersNamed('shop/web')).toEqual([owner]);
  expect(await provider.ensureDeleted(owner, context)).toEqual({ kind: 'gone' });
});
