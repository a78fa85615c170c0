import { expect, test } from 'vitest';
import type { Service } from '../../kube/core-objects.ts';
import { recordAnnotation } from '../record.ts';
import { gatewayLayerAnnotation } from '../../kube/gateway-layer.ts';
import { legacyManagedAnnotation, legacyPortAnnotation, portsAnnotation } from './annotations.ts';
import { handBack, holderOf } from './hand-back.ts';

const record = (provider: string) =>
  JSON.stringify({ version: 1, uid: 'u', provider, ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] });
const service = (annotations: Record<string, string>, more: Partial<Service> = {}): Service => ({
  spec: { type: 'LoadBalancer' },
  ...more,
  metadata: {
    ...{ name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7' },
    finalizers: ['other/one', 'service.kubernetes.io/load-balancer-cleanup'],
    annotations,
    ...more.metadata,
  },
});
const marks = { [legacyManagedAnnotation]: 'true', [legacyPortAnnotation]: 'port-1' };
const ours = { [recordAnnotation]: record('gateway'), [portsAnnotation]: '{}' };

test('takes off what is ours and leaves the rest', () => {
  expect(handBack(service({ ...marks, ...ours, mine: 'x' }))).toEqual({
    kind: 'patch',
    patch: {
      metadata: {
        resourceVersion: '7',
        annotations: {
          [recordAnnotation]: null,
          [portsAnnotation]: null,
          [gatewayLayerAnnotation]: null,
        },
        finalizers: ['other/one'],
      },
    },
  });
});

test.each<[string, Service, object]>([
  ['nobody has it', service(marks), { kind: 'none' }],
  ['another provider has it', service({ [recordAnnotation]: record('pool') }), { kind: 'none' }],
  ['without its marks', service(ours), { kind: 'keep' }],
  [
    'of our class',
    service({ ...marks, ...ours }, { spec: { loadBalancerClass: 'c' } }),
    { kind: 'keep' },
  ],
  [
    'deleted',
    service({ ...marks, ...ours }, { metadata: { deletionTimestamp: 'x', uid: 'u' } }),
    {},
  ],
])('%s', (_name, given, expected) => {
  expect(handBack(given)).toMatchObject(expected);
  expect(handBack(given).kind).not.toBe('patch');
});

test('a lease that was let go or has run out is held by nobody', () => {
  const spec = { holderIdentity: 'a', renewTime: '2026-01-01T00:00:00.000000Z' };
  const now = Date.UTC(2026, 0, 1);
  expect(holderOf({ spec }, now + 14_000)).toBe('a');
  expect(holderOf({ spec }, now + 16_000)).toBeUndefined();
  expect(holderOf({ spec: { ...spec, holderIdentity: '' } }, now)).toBeUndefined();
  expect(holderOf(undefined, now)).toBeUndefined();
});
