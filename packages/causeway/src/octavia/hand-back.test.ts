import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { formatRecord, recordAnnotation } from '../services/record.ts';
import { handBack } from '../services/hand-back.ts';
import { handBackToKuryr } from './hand-back.ts';
import { serviceFinalizer } from './kuryr-load-balancer.ts';

const servedBy = (provider: string): Service => ({
  metadata: {
    name: 'web',
    uid: 'u',
    resourceVersion: '7',
    finalizers: [serviceFinalizer, 'service.kubernetes.io/load-balancer-cleanup'],
    annotations: { [recordAnnotation]: formatRecord({ uid: 'u', provider, ingress: [] }) },
  },
});

test("a Service of Causeway is handed back with Kuryr's finalizer only", () => {
  expect(handBack(servedBy('octavia'), handBackToKuryr)).toMatchObject({
    kind: 'patch',
    patch: { metadata: { finalizers: [serviceFinalizer] } },
  });
});

test.each([servedBy('gateway'), { metadata: { name: 'web' } }])(
  'other Services do not change',
  (each) => {
    expect(handBack(each, handBackToKuryr)).toEqual({ kind: 'none' });
  },
);
