import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { matchOf } from './match.ts';
import { frontendFromService } from '../services/frontend-from-service.ts';

const service = (
  name: string,
  spec: Service['spec'],
  annotations: Readonly<Record<string, string>> = {},
  labels: Readonly<Record<string, string>> = {},
): Service => {
  const [namespace = '', bare = ''] = name.split('/');
  return { metadata: { namespace, name: bare, annotations, labels }, spec: spec ?? {} };
};
const inside = { type: 'ClusterIP', clusterIP: '10.96.0.5' } as const;
const dns = { 'k8s-app': 'kube-dns' };
const asked = { 'causeway.dev/octavia': 'true' };

test.each<[string, Service, 'annotated' | 'all', string]>([
  ['no class', service('a/b', { type: 'LoadBalancer' }), 'annotated', 'if-default'],
  [
    "Causeway's class",
    service('a/b', { type: 'LoadBalancer', loadBalancerClass: 'causeway.dev/octavia' }),
    'annotated',
    'yes',
  ],
  [
    'another class',
    service('a/b', { type: 'LoadBalancer', loadBalancerClass: 'x/y' }),
    'annotated',
    'no',
  ],
  [
    'opted out',
    service('a/b', { type: 'LoadBalancer' }, { 'causeway.dev/octavia': 'false' }),
    'all',
    'no',
  ],
  ['ClusterIP without the annotation', service('a/b', inside), 'annotated', 'no'],
  ['ClusterIP with the annotation', service('a/b', inside, asked), 'annotated', 'yes'],
  ['ClusterIP, all', service('a/b', inside), 'all', 'yes'],
  ['headless', service('a/b', { type: 'ClusterIP', clusterIP: 'None' }), 'all', 'no'],
  ['node port', service('a/b', { type: 'NodePort', clusterIP: '10.96.0.5' }), 'all', 'no'],
  ['an external name', service('a/b', { type: 'ExternalName' }), 'all', 'no'],
  ["the API server's own", service('default/kubernetes', inside, asked), 'all', 'no'],
  ['the DNS without the annotation', service('kube-system/kube-dns', inside), 'all', 'no'],
  ['the DNS under another name', service('kube-system/coredns', inside, {}, dns), 'all', 'no'],
  ['the DNS with the annotation', service('kube-system/kube-dns', inside, asked), 'all', 'yes'],
])('%s', (_, example, mode, match) => {
  expect(matchOf(frontendFromService(example), mode, () => false)).toBe(match);
});

test('keeps the load balancer that Kuryr created for the cluster DNS', () => {
  const served = service('kube-system/kube-dns', inside);
  expect(matchOf(frontendFromService(served), 'all', () => true)).toBe('yes');
  expect(matchOf(frontendFromService(served), 'annotated', () => true)).toBe('no');
});
