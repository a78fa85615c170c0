import { expect, test } from 'vitest';
import type { Service } from '../kube/core-objects.ts';
import { largeService } from '../kube/large-service.testing.ts';
import { tracedNode } from './testing/traced-node.ts';
import { makeSlice } from './testing/objects.ts';
import { translateService } from './translate-service.ts';

const translate = (service: Service) =>
  translateService({
    service: { ...service, status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } },
    ...{ slices: [makeSlice()], diversion: undefined, node: tracedNode },
  });

test('a Service that is larger than the budget is not served, and says why', () => {
  const { targets, healthCheck, excess } = translate(largeService(1000, 2000));
  expect(targets).toEqual([]);
  expect(healthCheck).toBeUndefined();
  expect(excess).toMatchObject({ reason: 'OverBudget' });
  expect(excess?.message).toContain('2000000 pairs of a port and a source range (1000 × 2000)');
});

test('all ports of a Service share one list of source ranges', () => {
  const { targets, excess } = translate(largeService(1000, 100));
  expect(excess).toBeUndefined();
  const balanced = targets.filter(({ origin }) => origin === 'load-balancer');
  expect(balanced).toHaveLength(1000);
  expect(new Set(balanced.map(({ virtual }) => virtual.sourceRanges)).size).toBe(1);
});
