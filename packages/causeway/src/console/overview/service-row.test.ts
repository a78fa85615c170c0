import { describe, expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { formatRecord, recordAnnotation } from '../../services/record.ts';
import { readyCondition } from '../../services/service-status.ts';
import { addSlices, countSlice, serviceRow } from './service-row.ts';

const none = { ready: 0, all: 0 };
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

describe('the state of a Service', () => {
  test.each([
    ['of another type', service({ type: 'ClusterIP' }), 'internal', ''],
    ['without a provider', service({}), 'unmatched', 'It has no loadBalancerClass'],
    ['of an unknown class', service({ loadBalancerClass: 'x/y' }), 'unmatched', 'the class x/y'],
    [
      'just taken over',
      service({}, { metadata: { annotations: { [recordAnnotation]: record } } }),
      'pending',
      'no status yet',
    ],
    ['served', service({}, conditioned('True', 'Served', 'fine')), 'serving', 'fine'],
    ['pending', service({}, conditioned('False', 'Pending', 'step 2')), 'pending', 'step 2'],
    ['failed', service({}, conditioned('False', 'PortTaken', 'by a/b')), 'failed', 'by a/b'],
    [
      'served by another controller',
      service({}, { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }),
      'serving',
      'Another controller set its address',
    ],
    [
      'idle',
      service({}, { metadata: { annotations: { 'idling.alpha.openshift.io/idled-at': 'x' } } }),
      'idle',
      'first connection wakes it',
    ],
    [
      'being deleted',
      service({}, { metadata: { deletionTimestamp: 'x', finalizers: ['a/b'] } }),
      'deleting',
      'Waiting for a/b.',
    ],
  ] as const)('%s', (_name, given, state, message) => {
    const row = serviceRow(given, none);
    expect(row.state).toBe(state);
    expect(row.message).toContain(message);
  });
});

test('prefers external addresses to cluster addresses', () => {
  expect(serviceRow(service({ type: 'NodePort' }), none).addresses).toEqual(['10.96.0.9']);
  expect(serviceRow(service({}), none).addresses).toEqual([]);
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'a.example' }] } };
  const row = serviceRow(service({ externalIPs: ['192.0.2.9'] }, { status }), none);
  expect(row.addresses).toEqual(['192.0.2.1', 'a.example', '192.0.2.9']);
  expect(row.ports).toEqual(['80/TCP']);
});

test('reads the provider from the record, unless it was copied from another Service', () => {
  const metadata = { annotations: { [recordAnnotation]: record } };
  expect(serviceRow(service({}, { metadata }), none).provider).toBe('gateway');
  const copied = service({}, { metadata: { ...metadata, uid: 'other' } });
  expect(serviceRow(copied, none).provider).toBe('');
});

test('a headless Service has no address', () => {
  const row = serviceRow(
    service({ type: 'ClusterIP', clusterIP: 'None', clusterIPs: ['None'] }),
    none,
  );
  expect(row).toMatchObject({ type: 'Headless', addresses: [] });
});

test('counts endpoints of two families as the same pods', () => {
  const slice = (addressType: 'IPv4' | 'IPv6', ready: boolean) =>
    countSlice({ addressType, endpoints: [{ addresses: ['a'], conditions: { ready } }] });
  const slices = [slice('IPv4', true), slice('IPv4', false), slice('IPv6', true)];
  expect(addSlices(slices)).toEqual({ ready: 1, all: 2 });
  expect(addSlices([])).toEqual(none);
});
