import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { noProblems, type ClusterFacts, type GatewayFacts } from '../../health/facts.ts';
import { clusterHealth } from '../../health/service-health.ts';
import { cleanupFinalizer } from '../../services/plan.ts';
import { formatRecord, recordAnnotation } from '../../services/record.ts';
import { readyCondition } from '../../services/service-status.ts';
import { explainService } from './explanation.ts';
import type { EventRow } from './rows.ts';
import { describeService, healthOf, serviceRow } from './service-row.ts';

const now = Date.UTC(2026, 0, 2);
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
const gateway: GatewayFacts = {
  name: 'g1',
  observedAt: now,
  reachable: true,
  failure: undefined,
  failedSince: undefined,
  role: 'active',
  alarms: [],
  isFenced: false,
  rejected: noProblems,
  unconfirmed: noProblems,
};
const lease = (ageMs: number) =>
  ({ kind: 'lease', holder: 'c1', renewedAt: now - ageMs, validForMs: 15_000 }) as const;
const facts: ClusterFacts = {
  now,
  lease: lease(0),
  reportedAt: now,
  gateways: [gateway],
  unhealthy: noProblems,
};

const explain = (
  service: Service,
  changes: Partial<ClusterFacts> = {},
  ready = 1,
  events: readonly EventRow[] = [],
) => {
  const cluster = clusterHealth({ ...facts, ...changes });
  const described = describeService(service);
  const endpoints = new Map([[4, { ready, draining: 0, all: 2 }] as const]);
  const health = healthOf(described, endpoints, cluster);
  const row = serviceRow(described, endpoints, health);
  return explainService({ service, row, health, cluster, events });
};

test('a served Service needs no advice, and every link of its chain is shown', () => {
  const { summary, steps, advice, isProblem } = explain(taken('True', 'Served', ''));
  expect(summary).toBe('shop/web is served on 192.0.2.7.');
  expect(steps.map(({ name, state }) => `${state} ${name}`)).toEqual([
    'done controller',
    'done taken over',
    'done protected',
    'done address',
    'done gateway g1',
    'done endpoints',
  ]);
  expect(advice).toEqual([]);
  expect(isProblem).toBe(false);
});

test('a hung controller comes before everything that it causes', () => {
  const { summary, causes, advice, isProblem } = explain(bare, { lease: lease(120_000) });
  expect(summary).toMatch(/^shop\/web is not served for 2 min: The controller c1 does not renew/);
  expect(causes.map(({ code }) => code)).toEqual(['controller-hung', 'no-provider']);
  expect(advice[0]).toContain('See the log of c1, and restart it');
  expect(isProblem).toBe(true);
});

test('a Service without a working gateway is not served, whatever its condition', () => {
  const alarms = ['bad-health: no IPv4 default route'];
  const gateways = [{ ...gateway, alarms }];
  const { summary, steps, advice } = explain(taken('True', 'Served', ''), { gateways });
  expect(summary).toBe("shop/web is not served: g1 can't serve: bad-health: no IPv4 default route");
  expect(steps.at(-2)).toMatchObject({ name: 'gateway g1', state: 'failed' });
  expect(advice).toEqual([expect.stringContaining('causeway gateways list')]);
  const unanswered = [{ ...gateway, reachable: false, role: undefined, failure: 'timeout' }];
  expect(explain(taken('True', 'Served', ''), { gateways: unanswered }).summary).toBe(
    'Whether shop/web is served is not known: The agent of g1 does not answer: timeout',
  );
});

test('a gateway that has not confirmed the Service is named', () => {
  const message = 'the agent is paused';
  const listed = new Map([['shop/web', { message, since: now - 60_000 }]]);
  const gateways = [{ ...gateway, unconfirmed: { total: 1, listed } }];
  const { summary, steps } = explain(taken('True', 'Served', ''), { gateways });
  expect(summary).toBe(
    'shop/web is served on 192.0.2.7, and degraded for 1 min: g1 has not confirmed the last change: the agent is paused',
  );
  expect(steps.at(-2)).toMatchObject({ name: 'gateway g1', state: 'failed' });
});

test('advises a Service without a class how to get a provider', () => {
  const { summary, advice } = explain(bare);
  expect(summary).toBe(
    'shop/web is not served: It has no loadBalancerClass, and no default provider took it.',
  );
  expect(advice[0]).toContain('create the Service again with spec.loadBalancerClass');
});

test('shows the problem of a refused Service', () => {
  const { summary, advice } = explain(taken('False', 'PortTaken', 'Port 80 belongs to a/b.'));
  expect(summary).toBe('shop/web is not served: PortTaken: Port 80 belongs to a/b.');
  expect(advice[0]).toContain('kubectl describe service -n shop web');
});

test('names the command that shows pods if no pod is ready', () => {
  const { steps, advice, state } = explain(taken('True', 'Served', ''), {}, 0);
  expect(state).toBe('no-endpoints');
  expect(steps.at(-1)).toEqual({ name: 'endpoints', state: 'failed', text: '0 of 2 ready' });
  expect(advice).toEqual(['Find out why no pod is ready: `kubectl get pods -n shop -l app=web`.']);
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
  const { lately } = explain(bare, {}, 0, events);
  expect(lately.map(({ key }) => key)).toEqual(['8', '7', '6', '5', '4']);
});
