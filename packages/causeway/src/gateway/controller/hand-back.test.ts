import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { recordAnnotation } from '../../services/record.ts';
import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import {
  legacyManagedAnnotation,
  legacyPortAnnotation,
  portsAnnotation,
} from './ports/annotations.ts';
import { handBack } from '../../services/hand-back.ts';
import { handBackToLbaas } from './hand-back.ts';

const record = (provider: string) =>
  JSON.stringify({ version: 1, uid: 'u', provider, ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] });
const service = (annotations: Record<string, string>, more: Partial<Service> = {}): Service => ({
  spec: { type: 'LoadBalancer' },
  ...more,
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '7',
    finalizers: ['other/one', 'service.kubernetes.io/load-balancer-cleanup'],
    annotations,
    ...more.metadata,
  },
});
const marks = { [legacyManagedAnnotation]: 'true', [legacyPortAnnotation]: 'port-1' };
const ours = { [recordAnnotation]: record('gateway'), [portsAnnotation]: '{}' };

test("removes Causeway's marks and leaves the rest", () => {
  expect(handBack(service({ ...marks, ...ours, mine: 'x' }), handBackToLbaas)).toEqual({
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
  ['ignores a Service without a record', service(marks), { kind: 'none' }],
  [
    'ignores a Service of another provider',
    service({ [recordAnnotation]: record('pool') }),
    { kind: 'none' },
  ],
  ['keeps a Service without the marks of ch-k8s-lbaas', service(ours), { kind: 'keep' }],
  [
    'keeps a Service with a class',
    service({ ...marks, ...ours }, { spec: { loadBalancerClass: 'c' } }),
    { kind: 'keep' },
  ],
  [
    'keeps a deleted Service',
    service({ ...marks, ...ours }, { metadata: { deletionTimestamp: 'x', uid: 'u' } }),
    {},
  ],
])('%s', (_name, given, expected) => {
  expect(handBack(given, handBackToLbaas)).toMatchObject(expected);
  expect(handBack(given, handBackToLbaas).kind).not.toBe('patch');
});
