import type {
  LoadBalancerIngress,
  Service,
  ServiceSpec,
} from '../../../packages/kubernetes/src/objects/core-objects.ts';
import type {
  Endpoint,
  EndpointConditions,
} from '../../../packages/kubernetes/src/objects/network-objects.ts';
import { endpoint, type PodName } from './proxy-lab.ts';

/** A Service to compare two proxies with. */
export interface Specimen {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly spec?: ServiceSpec;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ingress?: Partial<LoadBalancerIngress>;
}

const terminating = { ready: false, serving: true, terminating: true };
const unready = { ready: false, serving: false, terminating: false };
const externalLocal: ServiceSpec = { externalTrafficPolicy: 'Local' };
const internalLocal: ServiceSpec = { internalTrafficPolicy: 'Local' };

function pod(name: PodName, conditions: EndpointConditions = { ready: true }): Endpoint {
  return { ...endpoint(name), conditions };
}

function inZone(name: PodName, zone: string): Endpoint {
  return { ...pod(name), hints: { forZones: [{ name: zone }] } };
}

export const specimens: readonly Specimen[] = [
  { name: 'plain', endpoints: [pod('p1'), pod('p2'), pod('remote')] },
  { name: 'one', endpoints: [pod('p1')] },
  { name: 'none', endpoints: [] },
  { name: 'unready', endpoints: [pod('p1', unready)] },
  { name: 'going', endpoints: [pod('p1', terminating), pod('p2')] },
  { name: 'only-going', endpoints: [pod('p1', terminating), pod('p2', unready)] },
  { name: 'local', endpoints: [pod('p1'), pod('remote')], spec: externalLocal },
  { name: 'local-away', endpoints: [pod('remote')], spec: externalLocal },
  { name: 'local-none', endpoints: [], spec: externalLocal },
  {
    name: 'local-going',
    endpoints: [pod('p1', terminating), pod('remote')],
    spec: externalLocal,
  },
  { name: 'inside', endpoints: [pod('p1'), pod('remote')], spec: internalLocal },
  { name: 'inside-away', endpoints: [pod('remote')], spec: internalLocal },
  {
    name: 'both-away',
    endpoints: [pod('remote')],
    spec: { ...externalLocal, ...internalLocal },
  },
  {
    name: 'ranges',
    endpoints: [pod('p1')],
    spec: { loadBalancerSourceRanges: ['10.1.0.0/16'] },
  },
  {
    name: 'node-range',
    endpoints: [pod('p1')],
    spec: { loadBalancerSourceRanges: ['192.168.1.10/32'] },
  },
  { name: 'proxied', endpoints: [pod('p1')], ingress: { ipMode: 'Proxy' } },
  { name: 'zone', endpoints: [inZone('p1', 'a'), inZone('remote', 'b')] },
  { name: 'other-zone', endpoints: [inZone('p1', 'b'), inZone('remote', 'b')] },
  { name: 'some-hints', endpoints: [inZone('p1', 'b'), pod('remote')] },
  {
    name: 'sticky',
    endpoints: [pod('p1')],
    spec: { ...externalLocal, sessionAffinity: 'ClientIP' },
  },
  {
    name: 'foreign',
    endpoints: [pod('p1')],
    labels: { 'service.kubernetes.io/service-proxy-name': 'another' },
  },
];

/** The addresses of the specimen with this number. */
export function addressesOf(number: number) {
  return {
    cluster: { address: `10.96.8.${number + 1}`, port: 80 },
    external: { address: `198.51.100.${number + 1}`, port: 80 },
    balancer: { address: `198.51.100.${number + 101}`, port: 80 },
    nodePort: { address: '192.168.1.10', port: 30_100 + number },
    otherPort: { address: `10.96.8.${number + 1}`, port: 81 },
  };
}

export function serviceOf({ name, spec, labels = {} }: Specimen, number: number): Service {
  const { cluster, external, nodePort } = addressesOf(number);
  return {
    metadata: { namespace: 'shop', name, labels },
    spec: {
      type: 'LoadBalancer',
      clusterIP: cluster.address,
      externalIPs: [external.address],
      ports: [{ port: 80, nodePort: nodePort.port, protocol: 'TCP' }],
      ...spec,
    },
  };
}
