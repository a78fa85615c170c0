import { expect, test } from 'vitest';
import type { Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { frontendFromService } from './frontend-from-service.ts';

const web = (spec: ServiceSpec): Service => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'u1' },
  spec,
});

test('a Service with every field becomes a frontend', () => {
  const service: Service = {
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'u1',
      creationTimestamp: '2030-01-01T00:00:00Z',
      deletionTimestamp: '2030-01-02T00:00:00Z',
      finalizers: ['a/b'],
      labels: { app: 'web' },
      annotations: { 'causeway.dev/address': '192.0.2.7' },
    },
    spec: {
      type: 'LoadBalancer',
      loadBalancerClass: 'causeway.dev/gateway',
      loadBalancerIP: '192.0.2.7',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      ipFamilies: ['IPv6', 'IPv4'],
      ipFamilyPolicy: 'RequireDualStack',
      clusterIPs: ['fd00::7', '10.96.0.7'],
      externalIPs: ['198.51.100.1'],
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32_000,
      publishNotReadyAddresses: true,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
      ports: [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 'dns', nodePort: 30_053 }],
    },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.7' }, { hostname: 'web.example' }] } },
  };
  expect(frontendFromService(service)).toEqual({
    owner: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'u1' },
    createdAt: '2030-01-01T00:00:00Z',
    isDeleted: true,
    finalizers: ['a/b'],
    labels: { app: 'web' },
    annotations: { 'causeway.dev/address': '192.0.2.7' },
    exposure: 'external',
    className: 'causeway.dev/gateway',
    families: [6, 4],
    familyPolicy: 'require-both',
    requestedAddress: '192.0.2.7',
    ports: [{ name: 'dns', protocol: 'UDP', port: 53, target: 'dns', nodePort: 30_053 }],
    backends: {
      service: 'shop/web',
      includesNotReady: true,
      clusterAddresses: ['fd00::7', '10.96.0.7'],
      trafficPolicy: 'Local',
      healthCheckNodePort: 32_000,
    },
    policy: { sourceRanges: ['10.0.0.0/8'], affinity: 'client', affinityTimeoutSeconds: 600 },
    externalIps: ['198.51.100.1'],
    published: ['192.0.2.7', 'web.example'],
  });
});

test('fields that a Service leaves out get the defaults of Kubernetes', () => {
  expect(frontendFromService(web({ ports: [{ port: 80, nodePort: 0 }] }))).toMatchObject({
    isDeleted: false,
    exposure: 'cluster',
    families: [4],
    ports: [{ name: '', protocol: 'TCP', port: 80, target: 80, nodePort: undefined }],
    backends: { includesNotReady: false, clusterAddresses: [], trafficPolicy: 'Cluster' },
    policy: { sourceRanges: [], affinity: 'none' },
  });
});

test('an empty object becomes a frontend without ports', () => {
  expect(frontendFromService({})).toMatchObject({
    owner: { namespace: '', name: '', uid: '' },
    ports: [],
    published: [],
  });
});

test.each<[ServiceSpec, string, readonly string[]]>([
  [{ type: 'LoadBalancer', clusterIP: '10.96.0.7' }, 'external', ['10.96.0.7']],
  [{ type: 'ClusterIP', clusterIP: '10.96.0.7' }, 'cluster', ['10.96.0.7']],
  [{ type: 'ClusterIP', clusterIP: 'None' }, 'cluster', []],
  [{ type: 'NodePort', clusterIP: '10.96.0.7' }, 'none', ['10.96.0.7']],
  [{ type: 'ExternalName' }, 'none', []],
])('the exposure and the cluster addresses of %j', (spec, exposure, clusterAddresses) => {
  expect(frontendFromService(web(spec))).toMatchObject({
    exposure,
    backends: { clusterAddresses },
  });
});
