import { expect, test } from 'vitest';
import type { ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { frontendFromService } from '../../services/frontend-from-service.ts';
import { affinityNotKept, affinityTimeoutNotUsed } from './affinity-events.ts';

const service = (spec: ServiceSpec) =>
  frontendFromService({ metadata: { uid: 'u1', name: 'web' }, spec });

const timeout = (timeoutSeconds: number): ServiceSpec => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
});

test('gateways without session affinity are named on a Service that requests it', () => {
  const gateways = ['gw1', 'gw2'];
  expect(affinityNotKept(service({ sessionAffinity: 'ClientIP' }), gateways)).toContain('gw1, gw2');
  expect(affinityNotKept(service({ sessionAffinity: 'None' }), gateways)).toBeUndefined();
  expect(affinityNotKept(service({ sessionAffinity: 'ClientIP' }), [])).toBeUndefined();
});

test.each([
  ['a timeout of its own', timeout(600), true],
  ['the default timeout', timeout(10_800), false],
  ['no timeout', { sessionAffinity: 'ClientIP' } as const, false],
  ['no affinity', { ...timeout(600), sessionAffinity: 'None' } as const, false],
])('a Service with %s: warned %s', (_what, spec, isWarned) => {
  expect(affinityTimeoutNotUsed(service(spec))?.includes('timeout of 600 s') ?? false).toBe(
    isWarned,
  );
});
