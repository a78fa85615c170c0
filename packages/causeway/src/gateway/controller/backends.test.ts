import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Node, Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { BackendLayer } from '../../services/backend-layer.ts';
import { backendsOf, type BackendInput } from './backends.ts';
import { eligibleAddresses, isEligibleNode } from '../../services/nodes.ts';
import { frontendFromService } from '../../services/frontend-from-service.ts';

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

const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';
const nodes = new Map([
  ['n1', makeNode('n1', 1)],
  ['n2', makeNode('n2', 2)],
  ['n3', makeNode('n3', 3, { metadata: { labels: { [excluded]: '' } } })],
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
  const wanted = frontendFromService(service);
  return { spec: wanted, addresses, slices, nodes, layer, masquerade: 'needed', routable };
}

/** Each frontend as a line such as `192.0.2.1:80 -> …`. */
function describeBackends(of: BackendInput): string[] {
  const { frontends, problems } = backendsOf(of);
  return [
    ...frontends.map(({ address, port, nodePort, destinations, routedTo }) => {
      if (routedTo !== undefined) return `${address}:${port} ~> ${routedTo.toString()}`;
      const target =
        nodePort === undefined
          ? destinations
              .map((to) => `${to.address}:${to.port}${to.weight === 0 ? ' (draining)' : ''}`)
              .join(' ')
          : `every node:${nodePort}`;
      return `${address}:${port} -> ${target}`;
    }),
    ...problems.map((problem) => `problem: ${problem}`),
  ];
}

const ending = { ready: false, serving: true, terminating: true };
const portless = [{ name: 'http', port: 80 }];
const idled = { 'idling.alpha.openshift.io/idled-at': '2026-01-01T00:00:00Z' };
const twoPods = [slice(pod(1, 'n1'), pod(2, 'n2'))];

describe('backendsOf', () => {
  test.each<[string, BackendInput, string[]]>([
    [
      'sends to node ports on every node',
      input('NodePort', {}, twoPods),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'sends to node ports only on nodes with a pod for the policy Local',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [slice(pod(1, 'n2'))]),
      ['192.0.2.1:80 -> 10.0.0.2:30080'],
    ],
    [
      'sends to the cluster address',
      input('ClusterIP', {}, twoPods),
      ['192.0.2.1:80 -> 10.96.0.7:80'],
    ],
    ['sends to pods', input('Pod', {}, twoPods), ['192.0.2.1:80 -> 10.1.0.1:8080 10.1.0.2:8080']],
    [
      'sends to pods of several slices',
      input('Pod', {}, [slice(pod(1, 'n1')), slice(pod(2, 'n2'), pod(1, 'n1'))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 10.1.0.2:8080'],
    ],
    [
      'drains unready pods',
      input('Pod', {}, [slice(pod(1, 'n1', { ready: false }), pod(2, 'n2'))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 (draining) 10.1.0.2:8080'],
    ],
    [
      'sends nothing to unready pods if none is ready',
      input('Pod', {}, [slice(pod(1, 'n1', { ready: false }))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 (draining)'],
    ],
    [
      'sends to terminating pods if no other is ready',
      input('Pod', {}, [slice(pod(1, 'n1', { ready: false, serving: true, terminating: true }))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080'],
    ],
    [
      'drains a terminating pod that serves while another one is ready',
      input('Pod', {}, [slice(pod(1, 'n1', ending), pod(2, 'n2'))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 (draining) 10.1.0.2:8080'],
    ],
    [
      'drains a terminating pod that no longer serves, for as long as the pod exists',
      input('Pod', {}, [slice(pod(1, 'n1', { ...ending, serving: false }), pod(2, 'n2'))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 (draining) 10.1.0.2:8080'],
    ],
    [
      'sends nothing to a terminating pod that no longer serves',
      input('Pod', {}, [slice(pod(1, 'n1', { ...ending, serving: false }))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080 (draining)'],
    ],
    [
      'drains no UDP flows of a pod that no longer serves',
      input('Pod', { ports: [{ name: 'http', port: 80, protocol: 'UDP' }] }, [
        {
          ...slice(pod(1, 'n1', { ...ending, serving: false }), pod(2, 'n2')),
          ports: [{ name: 'http', port: 8080, protocol: 'UDP' }],
        },
      ]),
      ['192.0.2.1:80 -> 10.1.0.2:8080'],
    ],
    [
      'drains no UDP flows of an unready pod',
      input('Pod', { ports: [{ name: 'http', port: 80, protocol: 'UDP' }] }, [
        {
          ...slice(pod(1, 'n1', { ready: false }), pod(2, 'n2')),
          ports: [{ name: 'http', port: 8080, protocol: 'UDP' }],
        },
      ]),
      ['192.0.2.1:80 -> 10.1.0.2:8080'],
    ],
    [
      'drains a node with unready pods only for the policy Local',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [
        slice(pod(1, 'n1', { ready: false }), pod(2, 'n2')),
      ]),
      ['192.0.2.1:80 -> 10.0.0.1:30080 (draining) 10.0.0.2:30080'],
    ],
    [
      'drains a node that is no longer eligible for the policy Local',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [slice(pod(1, 'n3'), pod(2, 'n2'))]),
      ['192.0.2.1:80 -> 10.0.0.2:30080 10.0.0.3:30080 (draining)'],
    ],
    [
      'drains no UDP flows on a node that is no longer eligible for the policy Local',
      input(
        'NodePort',
        {
          externalTrafficPolicy: 'Local',
          ports: [{ name: 'http', port: 80, nodePort: 30080, protocol: 'UDP' }],
        },
        [
          {
            ...slice(pod(1, 'n3'), pod(2, 'n2')),
            ports: [{ name: 'http', port: 8080, protocol: 'UDP' }],
          },
        ],
      ),
      ['192.0.2.1:80 -> 10.0.0.2:30080'],
    ],
    [
      'drains a node with terminating pods only for the policy Local',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [
        slice(pod(1, 'n1', ending), pod(2, 'n2'), pod(3, 'n2', ending)),
      ]),
      ['192.0.2.1:80 -> 10.0.0.1:30080 (draining) 10.0.0.2:30080'],
    ],
    [
      'sends to unready pods that the Service publishes',
      input('Pod', { publishNotReadyAddresses: true }, [slice(pod(1, 'n1', { ready: false }))]),
      ['192.0.2.1:80 -> 10.1.0.1:8080'],
    ],
    ['serves a Service without pods and without backends', input('Pod'), ['192.0.2.1:80 -> ']],
    [
      'sends an idle Service to every node',
      input('Pod', {}, [], idled),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'sends an idle Service with the policy Local to every node',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [], idled),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'sends an idle Service with terminating pods to every node',
      input(
        'Pod',
        {},
        [slice(pod(1, 'n1', { ready: false, serving: true, terminating: true }))],
        idled,
      ),
      ['192.0.2.1:80 -> every node:30080'],
    ],
    [
      'sends a woken Service with the policy Local to nodes with pods',
      input('NodePort', { externalTrafficPolicy: 'Local' }, [slice(pod(1, 'n2'))], idled),
      ['192.0.2.1:80 -> 10.0.0.2:30080'],
    ],
    [
      'sends a woken Service to its pods',
      input('Pod', {}, twoPods, idled),
      ['192.0.2.1:80 -> 10.1.0.1:8080 10.1.0.2:8080'],
    ],
    [
      'routes unchanged to a node without a node port',
      input('NodePort', { ports: portless }),
      ['192.0.2.1:80 ~> nodes'],
    ],
    [
      'routes unchanged to nodes with pods for the policy Local',
      input('NodePort', { ports: portless, externalTrafficPolicy: 'Local' }, twoPods),
      ['192.0.2.1:80 ~> 10.0.0.1,10.0.0.2'],
    ],
    [
      'routes an idle Service without a node port on every layer',
      input('ClusterIP', { ports: portless }, [], idled),
      ['192.0.2.1:80 ~> nodes'],
    ],
    [
      'rejects a Service without a node port behind a floating IP',
      { ...input('NodePort', { ports: portless }), routable: new Set() },
      [
        'problem: TCP/80: the port has no node port, and the gateways cannot send to a node unchanged: nodes know the floating IP of the Service, not the address behind the floating IP. Remove allocateLoadBalancerNodePorts: false, or use the backend layer Pod.',
      ],
    ],
    [
      'rejects a Service without a node port if sources are rewritten',
      { ...input('NodePort', { ports: portless }), masquerade: 'always' },
      [
        'problem: TCP/80: the port has no node port, and the gateways cannot send to a node unchanged: the gateways rewrite every source (gateway.masquerade). Remove allocateLoadBalancerNodePorts: false, or use the backend layer Pod.',
      ],
    ],
  ])('%s', (_name, of, expected) => {
    expect(describeBackends(of)).toEqual(expected);
  });

  test('copies source ranges and affinity; ranges of the other family block all clients', () => {
    const spec: ServiceSpec = {
      sessionAffinity: 'ClientIP',
      loadBalancerSourceRanges: ['198.51.100.7/24', '2001:db8::/32'],
    };
    const [frontend] = backendsOf(input('ClusterIP', spec)).frontends;
    expect(frontend).toMatchObject({
      affinity: 'client',
      sourceRanges: [{ address: '198.51.100.0', length: 24 }],
    });
    // Decimal, as Kubernetes reads it.
    const zeros = input('ClusterIP', { loadBalancerSourceRanges: ['010.0.08.0/24'] });
    expect(backendsOf(zeros).frontends[0]).toMatchObject({
      sourceRanges: [{ address: '10.0.8.0', length: 24 }],
    });
    const other = input('ClusterIP', { loadBalancerSourceRanges: ['2001:db8::/32'] });
    expect(backendsOf(other).frontends).toEqual([]);
  });

  test.each([0, 70_000])('skips a slice with the invalid port %i', (port) => {
    const bad: EndpointSlice = { ...slice(pod(2, 'n2')), ports: [{ name: 'http', port }] };
    expect(describeBackends(input('Pod', {}, [slice(pod(1, 'n1')), bad]))).toEqual([
      '192.0.2.1:80 -> 10.1.0.1:8080',
    ]);
  });
});

describe('nodes', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' as const }] };
  test.each<[string, Node, boolean]>([
    ['a ready node is eligible', makeNode('a', 1), true],
    [
      'an unready node is not eligible',
      makeNode('a', 1, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
      false,
    ],
    [
      'a node without conditions is not eligible',
      makeNode('a', 1, { status: { conditions: [] } }),
      false,
    ],
    [
      'a node with the exclusion label is not eligible',
      makeNode('a', 1, {
        metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } },
        status: ready,
      }),
      false,
    ],
    [
      'a node that is being deleted is not eligible',
      makeNode('a', 1, { metadata: { deletionTimestamp: 'now' }, status: ready }),
      false,
    ],
    [
      'a node to be scaled down is not eligible',
      makeNode('a', 1, {
        spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
      }),
      false,
    ],
  ])('%s', (_name, node, expected) => {
    expect(isEligibleNode(node)).toBe(expected);
  });

  test('returns addresses in both families', () => {
    expect(eligibleAddresses(nodes.values())).toEqual([
      '10.0.0.1',
      'fd00::1',
      '10.0.0.2',
      'fd00::2',
    ]);
  });
});
