import { describe, expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { formatRecord, recordAnnotation } from '../../services/record.ts';
import { readyCondition } from '../../services/service-status.ts';
import { noProblems, type ClusterFacts } from '../../health/facts.ts';
import { clusterHealth } from '../../health/service-health.ts';
import { addSlices, countSlice, type SliceCount } from './service-facts.ts';
import { describeService, healthOf, serviceRow } from './service-row.ts';

const ready: SliceCount = { family: 4, ready: 1, draining: 0, all: 1 };
const record = formatRecord({ uid: 'u1', provider: 'gateway', ingress: [] });

const service = (spec: Service['spec'], changes: Partial<Service> = {}): Service => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'u1', ...changes.metadata },
  spec: { type: 'LoadBalancer', clusterIPs: ['10.96.0.9'], ports: [{ port: 80 }], ...spec },
  ...(changes.status === undefined ? {} : { status: changes.status }),
});
const conditioned = (status: 'True' | 'False', reason: string, message: string) => ({
  metadata: { annotations: { [recordAnnotation]: record } },
  status: { conditions: [{ type: readyCondition, status, reason, message }] },
});

const ingress = [{ ip: '192.0.2.1' }];
const served = (status: 'True' | 'False', reason: string, message: string) => {
  const { metadata, status: written } = conditioned(status, reason, message);
  return service({}, { metadata, status: { ...written, loadBalancer: { ingress } } });
};
const facts: ClusterFacts = {
  now: Date.UTC(2026, 0, 1),
  lease: { kind: 'not-read' },
  reportedAt: undefined,
  gateways: undefined,
  unhealthy: noProblems,
};
const row = (given: Service, slices: readonly SliceCount[] = []) => {
  const described = describeService(given);
  const endpoints = addSlices(slices);
  const health = healthOf(described, endpoints, clusterHealth(facts));
  return serviceRow(described, endpoints, health);
};

describe('the state of a Service', () => {
  test.each([
    ['of another type', service({ type: 'ClusterIP' }), 'internal', ''],
    ['without a provider', service({}), 'not-served', 'It has no loadBalancerClass'],
    ['of an unknown class', service({ loadBalancerClass: 'x/y' }), 'not-served', 'the class x/y'],
    [
      'just taken over',
      service({}, { metadata: { annotations: { [recordAnnotation]: record } } }),
      'pending',
      'no status yet',
    ],
    ['served', served('True', 'Served', 'fine'), 'serving', ''],
    ['pending', service({}, conditioned('False', 'Pending', 'step 2')), 'pending', 'step 2'],
    ['failed', service({}, conditioned('False', 'PortTaken', 'by a/b')), 'not-served', 'by a/b'],
    ['with a refused change', served('False', 'PortTaken', 'by a/b'), 'degraded', 'by a/b'],
    [
      'served by another controller',
      service({}, { status: { loadBalancer: { ingress } } }),
      'serving',
      'Another controller set the address',
    ],
    [
      'idle',
      service(
        {},
        {
          metadata: { annotations: { 'idling.alpha.openshift.io/idled-at': 'x' } },
          status: { loadBalancer: { ingress } },
        },
      ),
      'idle',
      'first connection wakes it',
    ],
    [
      'being deleted',
      service({}, { metadata: { deletionTimestamp: 'x', finalizers: ['a/b'] } }),
      'deleting',
      'waits for a/b.',
    ],
  ] as const)('%s', (_name, given, state, message) => {
    const shown = row(given, [ready]);
    expect(shown.state).toBe(state);
    expect(shown.message).toContain(message);
  });

  test('is not serving without a pod, whatever its condition', () => {
    const shown = row(served('True', 'Served', 'fine'));
    expect(shown).toMatchObject({ state: 'no-endpoints', reason: 'no-endpoints' });
    expect(shown.remedy).not.toBe('');
  });
});

test('prefers external addresses to cluster addresses', () => {
  expect(row(service({ type: 'NodePort' })).addresses).toEqual(['10.96.0.9']);
  expect(row(service({})).addresses).toEqual([]);
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'a.example' }] } };
  const shown = row(service({ externalIPs: ['192.0.2.9'] }, { status }));
  expect(shown.addresses).toEqual(['192.0.2.1', 'a.example', '192.0.2.9']);
  expect(shown.ports).toEqual(['80/TCP']);
});

test('reads the provider from the record, unless it was copied from another Service', () => {
  const metadata = { annotations: { [recordAnnotation]: record } };
  expect(row(service({}, { metadata })).provider).toBe('gateway');
  const copied = service({}, { metadata: { ...metadata, uid: 'other' } });
  expect(row(copied).provider).toBe('');
});

test('a headless Service has no address', () => {
  const shown = row(service({ type: 'ClusterIP', clusterIP: 'None', clusterIPs: ['None'] }));
  expect(shown).toMatchObject({ type: 'Headless', addresses: [] });
});

test('counts endpoints of two families as the same pods', () => {
  const slice = (addressType: 'IPv4' | 'IPv6', ready: boolean) =>
    countSlice({ addressType, endpoints: [{ addresses: ['a'], conditions: { ready } }] });
  const slices = [slice('IPv4', true), slice('IPv4', false), slice('IPv6', true)];
  expect(row(service({}), slices).endpoints).toEqual({ ready: 1, all: 2 });
  expect(row(service({})).endpoints).toEqual({ ready: 0, all: 0 });
});
