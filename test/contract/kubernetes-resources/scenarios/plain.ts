import { core, patch, type Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

const object = (kind: string, name: string, fields: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ...metadata },
  ...fields,
});

const secret = (name: string, fields: object) => object('Secret', name, fields);
const merge = (body: object) => ({ body, contentType: patch('merge') });

export const plainScenarios: readonly Scenario[] = [
  {
    name: 'Secrets and ConfigMaps',
    steps: (namespace) => {
      const at = (rest: string) => core(namespace, rest);
      return [
        [
          'POST',
          at('secrets'),
          { body: secret('a', { stringData: { x: 'y' }, data: { x: 'AA==', z: 'AA==' } }) },
        ],
        ['PATCH', at('secrets/a'), merge({ stringData: { new: 'text' } })],
        ['PATCH', at('secrets/a'), merge({ type: 'other' })],
        ['POST', at('secrets'), { body: secret('b', { data: { 'bad key': 'AA==' } }) }],
        ['POST', at('secrets'), { body: secret('b', { type: 'kubernetes.io/tls' }) }],
        ['POST', at('secrets'), { body: secret('b', { type: 'kubernetes.io/dockerconfigjson' }) }],
        ['POST', at('secrets'), { body: secret('b', { type: 'kubernetes.io/basic-auth' }) }],
        [
          'POST',
          at('secrets'),
          { body: secret('fixed', { immutable: true, data: { a: 'AA==' } }) },
        ],
        ['PATCH', at('secrets/fixed'), merge({ data: { a: 'AQ==' } })],
        ['PATCH', at('secrets/fixed'), merge({ immutable: false })],
        ['GET', at('secrets?fieldSelector=type=Opaque')],
        [
          'POST',
          at('configmaps'),
          { body: object('ConfigMap', 'c', { data: { a: '1' }, binaryData: { b: 'AA==' } }) },
        ],
        [
          'POST',
          at('configmaps'),
          { body: object('ConfigMap', 'd', { data: { a: '1' }, binaryData: { a: 'AA==' } }) },
        ],
        [
          'POST',
          at('configmaps'),
          { body: object('ConfigMap', 'd', { data: { '..a': '1', 'x/y': '' } }) },
        ],
        ['POST', at('configmaps'), { body: object('ConfigMap', 'Upper') }],
        [
          'POST',
          at('configmaps'),
          { body: object('ConfigMap', 'e', {}, { labels: { 'bad key': 'x', ok: 'not ok!' } }) },
        ],
        [
          'POST',
          at('configmaps'),
          { body: object('ConfigMap', 'e', {}, { annotations: { 'a/b/c': 'x' } }) },
        ],
        [
          'POST',
          at('configmaps'),
          { body: object('ConfigMap', 'e', {}, { finalizers: ['no spaces'] }) },
        ],
        [
          'POST',
          at('configmaps'),
          {
            body: object(
              'ConfigMap',
              'e',
              {},
              { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }] },
            ),
          },
        ],
        ['POST', at('serviceaccounts'), { body: object('ServiceAccount', 'me') }],
      ];
    },
  },
  {
    name: 'Namespaces and Nodes',
    steps: () => [
      [
        'POST',
        '/api/v1/namespaces',
        { body: object('Namespace', 'plain-namespace', {}, { labels: { a: 'b' } }) },
      ],
      ['POST', '/api/v1/namespaces', { body: object('Namespace', 'With.Dots') }],
      ['POST', '/api/v1/namespaces', { body: object('Namespace', 'with.dots') }],
      ['GET', '/api/v1/namespaces?fieldSelector=status.phase=Terminating'],
      ['DELETE', '/api/v1/namespaces/default'],
      ['POST', '/api/v1/nodes', { body: object('Node', 'plain-node') }],
      [
        'POST',
        '/api/v1/nodes',
        {
          body: object('Node', 'node-with-status', {
            spec: { podCIDR: '10.1.0.0/24' },
            status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
          }),
        },
      ],
      [
        'PATCH',
        '/api/v1/nodes/node-with-status',
        merge({ spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } }),
      ],
      ['PATCH', '/api/v1/nodes/node-with-status', merge({ spec: { unschedulable: true } })],
      ['GET', '/api/v1/nodes?fieldSelector=spec.unschedulable=true'],
    ],
  },
  {
    name: 'Leases and NetworkPolicies',
    steps: (namespace) => {
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      const policies = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
      const lease = (name: string, spec: object) => ({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name },
        spec,
      });
      const policy = (name: string, spec: object) => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name },
        spec,
      });
      return [
        ['POST', leases, { body: lease('a', { holderIdentity: 'me', leaseDurationSeconds: 15 }) }],
        ['POST', leases, { body: lease('b', { leaseDurationSeconds: 0, leaseTransitions: -1 }) }],
        ['PUT', `${leases}/a`, { body: lease('a', { holderIdentity: 'you' }) }],
        ['POST', policies, { body: policy('a', { podSelector: {} }) }],
        [
          'POST',
          policies,
          {
            body: policy('b', {
              podSelector: {},
              egress: [
                {
                  to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
                  ports: [{ port: 80 }, { port: 'http', protocol: 'UDP' }],
                },
              ],
            }),
          },
        ],
        [
          'POST',
          policies,
          {
            body: policy('c', {
              podSelector: {},
              ingress: [
                { from: [{}] },
                { from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] },
              ],
            }),
          },
        ],
        [
          'POST',
          policies,
          {
            body: policy('c', {
              podSelector: {},
              ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }] }],
              policyTypes: ['Sideways'],
            }),
          },
        ],
        [
          'POST',
          policies,
          {
            body: policy('c', {
              podSelector: {
                matchExpressions: [
                  { key: 'a', operator: 'In' },
                  { key: 'b', operator: 'Exists', values: ['x'] },
                  { key: 'c', operator: 'Near' },
                ],
              },
            }),
          },
        ],
        [
          'POST',
          policies,
          {
            body: policy('c', {
              podSelector: {},
              ingress: [
                {
                  ports: [
                    { port: 0 },
                    { port: 80, endPort: 70 },
                    { port: 'http', endPort: 70 },
                    { endPort: 70 },
                    { protocol: 'ICMP' },
                    { port: 'UPPER' },
                  ],
                },
              ],
            }),
          },
        ],
      ];
    },
  },
  {
    name: 'Events',
    steps: (namespace) => {
      const event = (name: string, fields: object) => object('Event', name, fields);
      const involvedObject = { kind: 'Pod', name: 'x', namespace };
      return [
        [
          'POST',
          core(namespace, 'events'),
          {
            body: event('a', {
              involvedObject,
              reason: 'Why',
              message: 'Because',
              type: 'Normal',
              source: { component: 'me' },
              firstTimestamp: '2026-01-01T00:00:00Z',
              lastTimestamp: '2026-01-01T00:00:00Z',
              count: 1,
            }),
          },
        ],
        [
          'POST',
          core(namespace, 'events'),
          { body: event('b', { involvedObject: { ...involvedObject, namespace: 'elsewhere' } }) },
        ],
        [
          'POST',
          core(namespace, 'events'),
          { body: event('b', { involvedObject, eventTime: '2026-01-01T00:00:00.000000Z' }) },
        ],
        ['GET', core(namespace, 'events?fieldSelector=involvedObject.name=x')],
        ['GET', core(namespace, 'events?fieldSelector=reason=Why,type=Normal')],
        ['GET', core(namespace, 'events?fieldSelector=colour=red')],
      ];
    },
  },
  {
    name: 'Events in their newer form',
    steps: (namespace) => {
      const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      const regarding = { kind: 'Pod', name: 'x', namespace };
      const event = (name: string, fields: object) => ({
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name },
        eventTime: '2026-01-01T00:00:00.000000Z',
        regarding,
        reason: 'Why',
        action: 'Do',
        type: 'Normal',
        note: 'Because',
        reportingController: 'example.com/me',
        reportingInstance: 'me-1',
        ...fields,
      });
      return [
        ['POST', path, { body: event('a', {}) }],
        ['GET', `${path}/a`],
        ['GET', core(namespace, 'events/a')],
        ['GET', `${path}?fieldSelector=regarding.name=x`],
        ['POST', path, { body: event('b', { eventTime: null }) }],
        ['POST', path, { body: event('b', { type: 'Odd', deprecatedCount: 3 }) }],
        [
          'PATCH',
          `${path}/a`,
          merge({ series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' } }),
        ],
        ['PATCH', `${path}/a`, merge({ note: 'Otherwise' })],
        ['DELETE', `${path}/a`],
        ['GET', core(namespace, 'events/a')],
      ];
    },
  },
  {
    name: 'Roles and budgets',
    steps: (namespace) => {
      const rbac = (rest: string) =>
        `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${rest}`;
      const of = (kind: string, name: string, fields: object) => ({
        ...object(kind, name, fields),
        apiVersion: 'rbac.authorization.k8s.io/v1',
      });
      const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
      const budget = (name: string, spec: object) => ({
        ...object('PodDisruptionBudget', name, { spec }),
        apiVersion: 'policy/v1',
      });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
      return [
        [
          'POST',
          rbac('roles'),
          {
            body: of('Role', 'r', {
              rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
            }),
          },
        ],
        ['POST', rbac('roles'), { body: of('Role', 'empty', {}) }],
        [
          'POST',
          rbac('roles'),
          {
            body: of('Role', 'x', {
              rules: [{ apiGroups: [''] }, { verbs: ['get'], nonResourceURLs: ['/x'] }],
            }),
          },
        ],
        [
          'POST',
          rbac('rolebindings'),
          {
            body: of('RoleBinding', 'b', {
              roleRef,
              subjects: [
                { kind: 'User', name: 'me' },
                { kind: 'ServiceAccount', name: 'sa', namespace },
              ],
            }),
          },
        ],
        [
          'POST',
          rbac('rolebindings'),
          {
            body: of('RoleBinding', 'x', {
              roleRef: { ...roleRef, kind: 'Odd' },
              subjects: [
                { kind: 'Robot', name: 'me' },
                { kind: 'ServiceAccount', name: 'sa' },
              ],
            }),
          },
        ],
        ['POST', budgets, { body: budget('a', { minAvailable: 1, selector: {} }) }],
        ['POST', budgets, { body: budget('x', { minAvailable: -1 }) }],
        ['POST', budgets, { body: budget('x', { maxUnavailable: 'many' }) }],
      ];
    },
  },
];
