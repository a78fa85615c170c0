import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { AffinityEvents } from './affinity-events.ts';

const service = (sessionAffinity: 'ClientIP' | 'None'): Service => ({
  metadata: { uid: 'u1', name: 'web' },
  spec: { type: 'LoadBalancer', sessionAffinity },
});

test('who wants affinity is told once which gateways know none, and again when it wants it anew', () => {
  const notes = new AffinityEvents(['gw1', 'gw2']);
  const recorded = [];
  for (const affinity of ['None', 'ClientIP', 'ClientIP', 'None', 'ClientIP'] as const) {
    recorded.push(notes.about(service(affinity)) !== undefined);
  }
  expect(recorded).toEqual([false, true, false, false, true]);
  notes.forget('u1');
  expect(notes.about(service('ClientIP'))).toContain('gw1, gw2');
});

test('with our own agents nobody is told anything', () => {
  expect(new AffinityEvents([]).about(service('ClientIP'))).toBeUndefined();
});
