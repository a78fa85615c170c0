import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Node, Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { backendsOf, type BackendInput, type BackendLayer } from './backends.ts';
import { eligibleAddresses, isEligibleNode } from '../../services/nodes.ts';

function makeNode(name: string, host: number, extra: Partial<Node> = {}): Node {
  return {
    metadata: { name, ...extra.metadata },
    spec: extra.spec ?? {},
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address: `10.0.0.${host}` },
        { type: 'InternalIP', address: `fd00::${host}` },
      ],
      conditions: [{ type: 'Ready', status: 'True' }],
      ...extra.status,
    },
  };
}

const nodes = new Map([
  ['n1', makeNode('n1', 1)],
  ['n2', makeNode('n2', 2)],
]);

const pod = (
  host: number,
  nodeName: string,
  conditions: Endpoint['conditions'] = { ready: true },
): Endpoint => ({
  addresses: [`10.1.0.${host}`],
  nodeName,
  ...(conditions === undefined ? {} : { conditions }),
});

const slice = (...endpoints: Endpoint[]): EndpointSlice => ({
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});

function input(
  layer: BackendLayer,
  spec: ServiceSpec = {},
  slices: EndpointSlice[] = [],
  annotations = {},
): BackendInput {
  const service: Service = {
    metadata: { namespace: 'shop', name: 'web', annotations },
    spec: {
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7'],
      ports: [{ name: 'http', port: 80, nodePort: 30080 }],
      ...spec,
    },
  };
  const addresses = new Map([[4, parseAddress('192.0.2.1')]] as const);
  const routable = new Set([4] as const);
  return { service, addresses, slices, nodes, layer, masquerade: 'needed', routable };
}

/** Each endpoint in a line, as `192.0.2.1:80 -> …`. */
function describeBackends(of: BackendInput): string[] {
  const { endpoints, problems } = backendsOf(of);
  return [
    ...endpoints.map(({ address, port, nodePort, destinations, routedTo }) => {
      if (routedTo !== undefined) return `${address}:${port} ~> ${routedTo.toString()}`;
      const target =
        nodePort === undefined
          ? destinations.map((to) => `${to.address}:${to.port}`).join(' ')
          : `every node:${nodePort}`;
      return `${address}:${port} -> ${target}`;
    }),
    ...problems.map((problem) => `problem: ${problem}`),
  ];
}

const portless = [{ name: 'http', port: 80 }];
const idled = { 'idling.alpha.openshift.io/idled-at': '2026-01-01T00:00:00Z' };
const twoPods = [slice(pod(1, 'n1'), pod(2, 'n2'))];

describe('backendsOf', () => {
  test.each<[string, BackendInput, string[]]>([
    [
      'node ports, on every node',
      input('NodePort', {}, twoPods),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'node ports with policy Local, only where a pod is',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [slice(pod(1, 'n2'))]),
      ['192.0.2.1:80 -> 10.0.0.2:30080'],
    ],
    ['the cluster address', input('ClusterIP', {}, twoPods), ['192.0.2.1:80 -> 10.96.0.7:80']],
    ['pods', input('Pod', {}, twoPods), ['192.0.2.1:80 -> 10.1.0.1:8080 10.1.0.2:8080']],
    [
      'pods of several slices',
      input('Pod', {}, [slice(pod(1, 'n1')), slice(pod(2, 'n2'), pod(1, 'n1'))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 10.1.0.2:8080'],
    ],
    [
      'unready pods are left out',
      input('Pod', {}, [slice(pod(1, 'n1', { ready: false }), pod(2, 'n2'))]),
      ['192.0.2.1:80 -> 10.1.0.2:8080'],
    ],
    [
      'ending pods serve while nobody else does',
      input('Pod', {}, [slice(pod(1, 'n1', { ready: false, serving: true, terminating: true }))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080'],
    ],
    [
      'unready pods where the Service publishes them',
      input('Pod', { publishNotReadyAddresses: true }, [slice(pod(1, 'n1', { ready: false }))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080'],
    ],
    ['no pods: served, with nowhere to go', input('Pod'), ['192.0.2.1:80 -> ']],
    [
      'an idle Service, to every node',
      input('Pod', {}, [], idled),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'an idle Service with policy Local too',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [], idled),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'an idle Service whose pods still end: nodes hold already',
      input(
        'Pod',
        {},
        [slice(pod(1, 'n1', { ready: false, serving: true, terminating: true }))],
        idled,
      ),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'one with policy Local that has pods again, where they are',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [slice(pod(1, 'n2'))], idled),
      ['192.0.2.1:80 -> 10.0.0.2:30080'],
    ],
    [
      'one that was idle and has pods again',
      input('Pod', {}, twoPods, idled),
      ['192.0.2.1:80 -> 10.1.0.1:8080 10.1.0.2:8080'],
    ],
    [
      'without a node port, to a node as it is',
      input('NodePort', { ports: portless }),
      ['192.0.2.1:80 ~> nodes'],
    ],
    [
      'without one and with policy Local, to the nodes that have pods',
      input('NodePort', { ports: portless, externalTrafficPolicy: 'Local' }, twoPods),
      ['192.0.2.1:80 ~> 10.0.0.1,10.0.0.2'],
    ],
    [
      'an idle Service without one, whatever the layer',
      input('ClusterIP', { ports: portless }, [], idled),
      ['192.0.2.1:80 ~> nodes'],
    ],
    [
      'without one, behind a floating IP',
      { ...input('NodePort', { ports: portless }), routable: new Set() },
      [
        'problem: TCP/80: the port has no node port, and the gateways cannot send to a node unchanged: nodes know the floating IP of the Service, not the address behind the floating IP. Remove allocateLoadBalancerNodePorts: false, or use the backend layer Pod.',
      ],
    ],
    [
      'without one, where sources are rewritten',
      { ...input('NodePort', { ports: portless }), masquerade: 'always' },
      [
        'problem: TCP/80: the port has no node port, and the gateways cannot send to a node unchanged: the gateways rewrite every source (gateway.masquerade). Remove allocateLoadBalancerNodePorts: false, or use the backend layer Pod.',
      ],
    ],
  ])('%s', (_name, of, expected) => {
    expect(describeBackends(of)).toEqual(expected);
  });

  test('ranges and affinity are carried; ranges of the other family keep everybody out', () => {
    const spec: ServiceSpec = {
      sessionAffinity: 'ClientIP',
      loadBalancerSourceRanges: ['198.51.100.7/24', '2001:db8::/32'],
    };
    const [endpoint] = backendsOf(input('ClusterIP', spec)).endpoints;
    expect(endpoint).toMatchObject({
      affinity: 'client',
      sourceRanges: [{ address: '198.51.100.0', length: 24 }],
    });
    // As Kubernetes reads it: in decimal.
    const zeros = input('ClusterIP', { loadBalancerSourceRanges: ['010.0.08.0/24'] });
    expect(backendsOf(zeros).endpoints[0]).toMatchObject({
      sourceRanges: [{ address: '10.0.8.0', length: 24 }],
    });
    const other = input('ClusterIP', { loadBalancerSourceRanges: ['2001:db8::/32'] });
    expect(backendsOf(other).endpoints).toEqual([]);
  });

  test.each([0, 70_000])('a slice with the port %i that nobody can have is passed over', (port) => {
    const bad: EndpointSlice = { ...slice(pod(2, 'n2')), ports: [{ name: 'http', port }] };
    expect(describeBackends(input('Pod', {}, [slice(pod(1, 'n1')), bad]))).toEqual([
      '192.0.2.1:80 -> 10.1.0.1:8080',
    ]);
  });
});

describe('nodes', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' as const }] };
  test.each<[string, Node, boolean]>([
    ['a ready one', makeNode('a', 1), true],
    [
      'one that is not ready',
      makeNode('a', 1, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
      false,
    ],
    ['one that says nothing', makeNode('a', 1, { status: { conditions: [] } }), false],
    [
      'one with the label',
      makeNode('a', 1, {
        metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } },
        status: ready,
      }),
      false,
    ],
    [
      'one that goes',
      makeNode('a', 1, { metadata: { deletionTimestamp: 'now' }, status: ready }),
      false,
    ],
    [
      'one to be scaled down',
      makeNode('a', 1, {
        spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
      }),
      false,
    ],
  ])('%s', (_name, node, expected) => {
    expect(isEligibleNode(node)).toBe(expected);
  });

  test('have addresses in both families', () => {
    expect(eligibleAddresses(nodes.values())).toEqual([
      '10.0.0.1',
      'fd00::1',
      '10.0.0.2',
      'fd00::2',
    ]);
  });
});
