import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { cleanupFinalizer } from '../../services/plan.ts';
import { formatRecord, recordAnnotation } from '../../services/record.ts';
import { readyCondition } from '../../services/service-status.ts';
import { explainService } from './explanation.ts';
import { serviceRow } from './service-row.ts';

const bare: Service = {
  metadata: { namespace: 'shop', name: 'web', uid: 'u1' },
  spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const taken = (status: 'True' | 'False', reason: string, message: string): Service => ({
  ...bare,
  metadata: {
    ...bare.metadata,
    finalizers: [cleanupFinalizer],
    annotations: {
      [recordAnnotation]: formatRecord({ uid: 'u1', provider: 'gateway', ingress: [] }),
    },
  },
  status: {
    loadBalancer: { ingress: status === 'True' ? [{ ip: '192.0.2.7', ipMode: 'VIP' }] : [] },
    conditions: [{ type: readyCondition, status, reason, message }],
  },
});
const explain = (service: Service, ready = 1) =>
  explainService(service, serviceRow(service, { ready, all: 2 }), []);

test('a served Service needs no advice', () => {
  const { summary, steps, advice } = explain(taken('True', 'Served', ''));
  expect(summary).toBe('shop/web is served on 192.0.2.7.');
  expect(steps.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
  expect(advice).toEqual([]);
});

test('a Service without a working gateway gets no answer, whatever its condition', () => {
  const service = taken('True', 'Served', '');
  const row = serviceRow(service, { ready: 1, all: 2 });
  const outage = { isCertain: true, message: 'no gateway can serve clients' };
  const { summary, steps, advice } = explainService(service, row, [], outage);
  expect(summary).toBe('shop/web gets no answer: no gateway can serve clients.');
  const unknown = { isCertain: false, message: 'no agent of a gateway answers' };
  expect(explainService(service, row, [], unknown).summary).toContain('may get no answer');
  expect(steps.at(-1)).toMatchObject({ name: 'gateways', state: 'failed' });
  expect(advice).toEqual([expect.stringContaining('causeway status')]);
});

test('advises a Service without a class how to set one', () => {
  const { summary, steps, advice } = explain(bare);
  expect(summary).toContain('No provider serves shop/web');
  expect(steps.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'failed', 'done']);
  expect(advice[0]).toContain('Set spec.loadBalancerClass');
});

test('shows the problem of a failed Service', () => {
  const { summary, advice } = explain(taken('False', 'PortTaken', 'Port 80 belongs to a/b.'));
  expect(summary).toBe("shop/web can't be served: Port 80 belongs to a/b.");
  expect(advice[0]).toContain('kubectl describe service -n shop web');
});

test('names the command that shows pods if no pod is ready', () => {
  const { steps, advice } = explain(taken('True', 'Served', ''), 0);
  expect(steps.at(-1)).toEqual({ name: 'endpoints', state: 'failed', text: '0 of 2 ready' });
  expect(advice).toEqual(['No pod is ready: `kubectl get pods -n shop -l app=web`.']);
});

test('shows a few Events, newest first', () => {
  const events = Array.from({ length: 9 }, (_, index) => ({
    key: String(index),
    at: `2026-01-01T00:00:0${index}Z`,
    isWarning: false,
    reason: 'R',
    message: '',
    about: 'Service shop/web',
    count: 1,
    source: '',
  }));
  const { lately } = explainService(bare, serviceRow(bare, { ready: 0, all: 0 }), events);
  expect(lately.map(({ key }) => key)).toEqual(['8', '7', '6', '5', '4']);
});
