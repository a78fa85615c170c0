import { expect, test } from 'vitest';
import { followedService, followedSlice } from './followed-objects.ts';

const identity = { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '7' };
const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'o' };

test('keeps everything of a Service except its selector, other labels, owners and conditions', () => {
  const annotations = { 'idling.alpha.openshift.io/idled-at': '2026-01-01T00:00:00Z' };
  const labels = { app: 'web', 'service.kubernetes.io/service-proxy-name': 'causeway' };
  const spec = { clusterIP: '10.0.0.1', ports: [{ port: 80 }] };
  const loadBalancer = { ingress: [{ ip: '192.0.2.1' }] };
  const conditions = [{ type: 'Ready', status: 'True' as const }];
  const followed = followedService({
    metadata: { ...identity, annotations, labels, ownerReferences: [owner] },
    spec: { ...spec, selector: { app: 'web' } },
    status: { loadBalancer, conditions },
  });
  const { app: _, ...kept } = labels;
  expect(followed).toEqual({
    metadata: { ...identity, annotations, labels: kept },
    spec,
    status: { loadBalancer },
  });
});

test('keeps the fields of a slice that select endpoints', () => {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const endpoint = {
    addresses: ['10.1.0.1'],
    conditions: { ready: true },
    nodeName: 'node1',
    hints: { forZones: [{ name: 'a' }] },
  };
  const slice = {
    metadata: { ...identity, labels },
    addressType: 'IPv4' as const,
    ports: [{ name: '', port: 80 }],
    endpoints: [endpoint, { addresses: ['10.1.0.2'] }],
  };
  const [first, second] = slice.endpoints;
  const whole = {
    ...slice,
    metadata: {
      ...slice.metadata,
      labels: { ...labels, app: 'web' },
      ownerReferences: [owner],
      managedFields: [{ manager: 'kube-controller-manager' }],
    },
    endpoints: [
      { ...endpoint, ...first, zone: 'a', targetRef: { kind: 'Pod', name: 'web-1' } },
      { addresses: [], ...second },
    ],
  };
  expect(followedSlice(whole)).toEqual(slice);
});

test('keeps a slice without endpoints', () => {
  const slice = { metadata: identity, addressType: 'IPv4' as const, endpoints: null };
  expect(followedSlice(slice)).toEqual(slice);
});
