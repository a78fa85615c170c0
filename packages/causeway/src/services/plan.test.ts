import { describe, expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { MemoryProvider } from './memory-provider.ts';
import { planService, wantedFinalizers, type Providers } from './plan.ts';
import { formatRecord, readRecord, recordAnnotation } from './record.ts';
import { providerForServices } from './service-provider.ts';

const gateway = providerForServices(new MemoryProvider({ name: 'gateway' }));
const octavia = providerForServices(new MemoryProvider({ name: 'octavia' }));
const providers: Providers = { all: [gateway, octavia], defaultName: 'gateway' };
const noDefault: Providers = { ...providers, defaultName: undefined };

interface Traits {
  readonly type?: 'LoadBalancer' | 'ClusterIP';
  readonly class?: string;
  readonly recorded?: string;
  readonly recordedUid?: string;
  readonly annotation?: string;
  readonly deleted?: boolean;
  readonly address?: string;
}

function makeService(traits: Traits): Service {
  const record =
    traits.annotation ??
    (traits.recorded === undefined
      ? undefined
      : formatRecord({ uid: traits.recordedUid ?? 'u1', provider: traits.recorded, ingress: [] }));
  return {
    metadata: {
      namespace: 'default',
      name: 'web',
      uid: 'u1',
      ...(record === undefined ? {} : { annotations: { [recordAnnotation]: record } }),
      ...(traits.deleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      type: traits.type ?? 'LoadBalancer',
      ...(traits.class === undefined ? {} : { loadBalancerClass: traits.class }),
    },
    ...(traits.address === undefined
      ? {}
      : { status: { loadBalancer: { ingress: [{ ip: traits.address }] } } }),
  };
}

const plain = (traits: Traits, among = providers) => {
  const plan = planService(makeService(traits), among);
  switch (plan.kind) {
    case 'ignore':
      return 'ignore';
    case 'hold':
      return `hold: ${plan.reason}`;
    case 'serve':
      return `serve with ${plan.provider.name}${plan.record === undefined ? ', new' : ''}`;
    case 'release':
      return `release from ${plan.provider.name}: ${plan.because}`;
  }
};

describe('planService', () => {
  test.each<[string, Traits, string]>([
    ['a Service without a class goes to the default provider', {}, 'serve with gateway, new'],
    ['a class of Causeway', { class: 'causeway.dev/octavia' }, 'serve with octavia, new'],
    ['a foreign class', { class: 'example.com/other' }, 'ignore'],
    ['a ClusterIP Service', { type: 'ClusterIP' }, 'ignore'],
    ['a Service with a record', { recorded: 'gateway' }, 'serve with gateway'],
    ['a deleted Service without a record', { deleted: true }, 'ignore'],
    [
      'a deleted Service with a record',
      { recorded: 'gateway', deleted: true },
      'release from gateway: deleted',
    ],
    [
      'a Service with a changed type',
      { recorded: 'gateway', type: 'ClusterIP' },
      'release from gateway: no longer wanted',
    ],
    [
      'a Service that moves to another provider',
      { recorded: 'gateway', class: 'causeway.dev/octavia' },
      'release from gateway: no longer wanted',
    ],
    [
      'a Service of a provider that is not configured',
      { recorded: 'pool' },
      'hold: ProviderMissing',
    ],
    ['a record that was edited', { annotation: '{' }, 'hold: UnreadableRecord'],
    ['a record of a later version', { annotation: '{"version":99}' }, 'hold: UnreadableRecord'],
    [
      'a record copied from another Service',
      { recorded: 'octavia', recordedUid: 'u2' },
      'serve with gateway, new',
    ],
    ['a foreign address in the status', { address: '203.0.113.9' }, 'hold: ForeignAddress'],
    [
      'a foreign address in the status and a class of Causeway',
      { address: '203.0.113.9', class: 'causeway.dev/gateway' },
      'serve with gateway, new',
    ],
  ])('%s', (_name, traits, expected) => {
    expect(plain(traits)).toBe(expected);
  });

  test('explains how to hand over a Service with a foreign address', () => {
    const plan = planService(makeService({ address: '203.0.113.9' }), providers);
    expect(plan).toMatchObject({
      message: expect.stringContaining(
        'kubectl patch service web --namespace default --subresource status',
      ),
    });
    expect(plan).toMatchObject({ message: expect.not.stringContaining('loadBalancerClass') });
  });

  test('ignores a Service without a class if no default provider is set', () => {
    expect(plain({}, noDefault)).toBe('ignore');
    expect(plain({ class: 'causeway.dev/gateway' }, noDefault)).toBe('serve with gateway, new');
  });
});

test('adds the finalizer of Kubernetes to load balancers only', () => {
  expect(wantedFinalizers(makeService({}), gateway)).toEqual([
    'service.kubernetes.io/load-balancer-cleanup',
    'causeway.dev/memory-cleanup',
  ]);
  expect(wantedFinalizers(makeService({ type: 'ClusterIP' }), gateway)).toEqual([
    'causeway.dev/memory-cleanup',
  ]);
});

test('reads a record back as it was written', () => {
  const record = {
    uid: 'u1',
    provider: 'gateway',
    ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' as const }, { hostname: 'lb.example.com' }],
  };
  const service = makeService({ annotation: formatRecord(record) });
  expect(readRecord(service)).toEqual({ kind: 'record', record });
});
