import { expect, test } from 'vitest';
import { frontendFromService } from '../../services/frontend-from-service.ts';
import { AffinityEvents } from './affinity-events.ts';

const service = (sessionAffinity: 'ClientIP' | 'None') =>
  frontendFromService({
    metadata: { uid: 'u1', name: 'web' },
    spec: { type: 'LoadBalancer', sessionAffinity },
  });

test('warns once about gateways without affinity, and again after the Service requests affinity again', () => {
  const notes = new AffinityEvents(['gw1', 'gw2']);
  const warnings = [];
  for (const affinity of ['None', 'ClientIP', 'ClientIP', 'None', 'ClientIP'] as const) {
    warnings.push(notes.about(service(affinity)) !== undefined);
  }
  expect(warnings).toEqual([false, true, false, false, true]);
  notes.forget('u1');
  expect(notes.about(service('ClientIP'))).toContain('gw1, gw2');
});

test("returns no warning if all gateways run Causeway's agent", () => {
  expect(new AffinityEvents([]).about(service('ClientIP'))).toBeUndefined();
});
