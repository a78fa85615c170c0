import type { Step } from './transcript.ts';

/** A name, and what to ask in this order. Each scenario has a namespace of its own. */
export interface Scenario {
  readonly name: string;
  steps(namespace: string): readonly Step[];
}

const json = (type: string) => `application/${type}-patch+json`;
const apply = 'application/apply-patch+yaml';

const service = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...metadata },
  spec,
});

const web = { selector: { app: 'web' }, ports: [{ port: 80 }] };

const deployment = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
    },
    ...spec,
  },
});

const configMap = (name: string, data: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

const core = (namespace: string, rest: string) => `/api/v1/namespaces/${namespace}/${rest}`;
const apps = (namespace: string, rest: string) => `/apis/apps/v1/namespaces/${namespace}/${rest}`;

export const scenarios: readonly Scenario[] = [
  {
    name: 'the life of a Service',
    steps: (namespace) => [
      ['POST', core(namespace, 'services'), { body: service('a', web) }],
      ['POST', core(namespace, 'services'), { body: service('a', web) }],
      ['GET', core(namespace, 'services/a')],
      ['GET', core(namespace, 'services')],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { metadata: { labels: { x: 'y' } } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { spec: { type: 'NodePort' } }, contentType: json('strategic-merge') },
      ],
      [
        'PATCH',
        core(namespace, 'services/a'),
        {
          body: {
            spec: {
              ports: [
                { port: 443, name: 'tls' },
                { port: 80, name: 'plain' },
              ],
            },
          },
          contentType: json('strategic-merge'),
        },
      ],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { spec: { type: 'LoadBalancer' } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        core(namespace, 'services/a/status'),
        {
          body: { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
          contentType: json('merge'),
        },
      ],
      ['GET', core(namespace, 'services/a/status')],
      [
        'PATCH',
        core(namespace, 'services/a'),
        { body: { spec: { type: 'ClusterIP' } }, contentType: json('merge') },
      ],
      ['DELETE', core(namespace, 'services/a')],
      ['GET', core(namespace, 'services/a')],
      ['DELETE', core(namespace, 'services/a')],
    ],
  },
  {
    name: 'Services of every sort',
    steps: (namespace) => [
      [
        'POST',
        core(namespace, 'services'),
        { body: service('headless', { ...web, clusterIP: 'None' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('external', { type: 'ExternalName', externalName: 'example.com' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('local', { ...web, type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('portless', {
            ...web,
            type: 'LoadBalancer',
            allocateLoadBalancerNodePorts: false,
            loadBalancerClass: 'causeway.dev/gateway',
          }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('dual', { ...web, ipFamilyPolicy: 'PreferDualStack' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('six', { ...web, ipFamilies: ['IPv6'] }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('sticky', { ...web, sessionAffinity: 'ClientIP' }) },
      ],
    ],
  },
  {
    name: 'Services that are refused',
    steps: (namespace) => [
      ['POST', core(namespace, 'services'), { body: service('Bad_Name', web) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('no-ports', { selector: { a: 'b' } }) },
      ],
      ['POST', core(namespace, 'services'), { body: service('x', { ports: [{ port: 0 }] }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ports: [{ port: 80 }, { port: 81 }] }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        {
          body: service('x', {
            ports: [
              { port: 80, name: 'a' },
              { port: 80, name: 'b' },
            ],
          }),
        },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ports: [{ port: 80, protocol: 'ICMP' }] }) },
      ],
      ['POST', core(namespace, 'services'), { body: service('x', { ...web, type: 'Nonsense' }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, clusterIP: '1.2.3.4' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, externalTrafficPolicy: 'Local' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, loadBalancerClass: 'a/b' }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ports: [{ port: 80, nodePort: 30000 }] }) },
      ],
      ['POST', core(namespace, 'services'), { body: service('x', { ports: [{ port: '80' }] }) }],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', web, { labels: { 'bad key!': 'v' } }) },
      ],
      [
        'POST',
        core(namespace, 'services'),
        { body: service('x', { ...web, externalIPs: ['nonsense'] }) },
      ],
    ],
  },
  {
    name: 'bodies that do not fit',
    steps: (namespace) => [
      ['POST', core(namespace, 'configmaps'), { body: '{"metadata":' }],
      ['POST', core(namespace, 'configmaps'), { body: '[]' }],
      [
        'POST',
        core(namespace, 'configmaps'),
        { body: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } } },
      ],
      [
        'POST',
        core(namespace, 'configmaps'),
        { body: { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'a' } } },
      ],
      [
        'POST',
        core(namespace, 'configmaps'),
        { body: configMap('a', {}, { namespace: 'elsewhere' }) },
      ],
      ['POST', core(namespace, 'configmaps'), { body: { ...configMap('unknown'), nonsense: 1 } }],
      [
        'POST',
        `${core(namespace, 'configmaps')}?fieldValidation=Strict`,
        { body: { ...configMap('b'), nonsense: 1 } },
      ],
      [
        'POST',
        `${core(namespace, 'configmaps')}?fieldValidation=Ignore`,
        { body: { ...configMap('ignored'), nonsense: 1 } },
      ],
      ['POST', core(namespace, 'configmaps'), { body: configMap('a'), contentType: 'text/plain' }],
      ['POST', core('not-there', 'configmaps'), { body: configMap('a') }],
      ['POST', `${core(namespace, 'configmaps')}?dryRun=All`, { body: configMap('dry') }],
      ['GET', core(namespace, 'configmaps/dry')],
      ['POST', core(namespace, 'configmaps/named'), { body: configMap('named') }],
      ['PUT', core(namespace, 'configmaps'), { body: configMap('named') }],
      ['GET', core(namespace, 'nonsenses')],
      ['GET', '/apis/nonsense.example.com/v1/things'],
    ],
  },
  {
    name: 'the life of a Deployment',
    steps: (namespace) => [
      [
        'POST',
        `${apps(namespace, 'deployments')}?fieldManager=creator`,
        { body: deployment('web', { replicas: 2 }) },
      ],
      ['GET', apps(namespace, 'deployments/web/scale')],
      [
        'PUT',
        apps(namespace, 'deployments/web/scale'),
        {
          body: {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name: 'web', namespace },
            spec: { replicas: 5 },
          },
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web/scale'),
        { body: { spec: { replicas: 3 } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        `${apps(namespace, 'deployments/web')}?fieldManager=labeler`,
        { body: { metadata: { labels: { tier: 'front' } } }, contentType: json('strategic-merge') },
      ],
      [
        'PATCH',
        `${apps(namespace, 'deployments/web')}?fieldManager=labeler`,
        { body: { metadata: { labels: { tier: 'front' } } }, contentType: json('strategic-merge') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        {
          body: {
            spec: {
              template: {
                spec: {
                  containers: [
                    { name: 'main', image: 'example/web:2' },
                    { name: 'side', image: 'example/side' },
                  ],
                },
              },
            },
          },
          contentType: json('strategic-merge'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        {
          body: [
            {
              op: 'replace',
              path: '/spec/template/spec/containers/0/image',
              value: 'example/web:3',
            },
            { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
          ],
          contentType: json('json'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: [{ op: 'test', path: '/spec/replicas', value: 99 }], contentType: json('json') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: [{ op: 'remove', path: '/spec/nonsense' }], contentType: json('json') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web/status'),
        {
          body: { status: { replicas: 3, observedGeneration: 4 }, spec: { replicas: 77 } },
          contentType: json('merge'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { status: { replicas: 11 } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        {
          body: { spec: { selector: { matchLabels: { app: 'other' } } } },
          contentType: json('merge'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { spec: { replicas: -1 } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { spec: { replicas: 'x' } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: '{}', contentType: 'application/json' },
      ],
      ['DELETE', apps(namespace, 'deployments/web'), { body: { propagationPolicy: 'Foreground' } }],
      ['GET', apps(namespace, 'deployments/web')],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { metadata: { finalizers: null } }, contentType: json('merge') },
      ],
      ['GET', apps(namespace, 'deployments/web')],
    ],
  },
  {
    name: 'versions and preconditions',
    steps: (namespace) => [
      ['POST', core(namespace, 'configmaps'), { body: configMap('a', { k: '1' }) }],
      ['PUT', core(namespace, 'configmaps/a'), { body: configMap('a', { k: '1' }) }],
      ['PUT', core(namespace, 'configmaps/a'), { body: configMap('a', { k: '2' }) }],
      [
        'PUT',
        core(namespace, 'configmaps/a'),
        { body: configMap('a', { k: '3' }, { resourceVersion: '1' }) },
      ],
      [
        'PUT',
        core(namespace, 'configmaps/a'),
        { body: configMap('a', { k: '3' }, { uid: '00000000-0000-0000-0000-000000000000' }) },
      ],
      ['PUT', core(namespace, 'configmaps/a'), { body: configMap('b') }],
      ['PUT', core(namespace, 'configmaps/not-there'), { body: configMap('not-there') }],
      ['PUT', core(namespace, 'services/by-put'), { body: service('by-put', web) }],
      [
        'POST',
        core(namespace, 'configmaps'),
        { body: configMap('versioned', {}, { resourceVersion: '5' }) },
      ],
      ['POST', core(namespace, 'configmaps'), { body: configMap('') }],
      [
        'DELETE',
        core(namespace, 'configmaps/a'),
        { body: { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } } },
      ],
      [
        'DELETE',
        core(namespace, 'configmaps/a'),
        { body: { preconditions: { resourceVersion: '1' } } },
      ],
      ['DELETE', `${core(namespace, 'configmaps/a')}?dryRun=All`],
      ['GET', core(namespace, 'configmaps/a')],
      ['DELETE', core(namespace, 'configmaps/a')],
    ],
  },
  {
    name: 'finalizers',
    steps: (namespace) => [
      [
        'POST',
        core(namespace, 'configmaps'),
        { body: configMap('held', {}, { finalizers: ['example.com/hold'] }) },
      ],
      ['DELETE', core(namespace, 'configmaps/held')],
      ['GET', core(namespace, 'configmaps/held')],
      ['DELETE', core(namespace, 'configmaps/held')],
      [
        'PATCH',
        core(namespace, 'configmaps/held'),
        { body: { data: { still: 'writable' } }, contentType: json('merge') },
      ],
      [
        'PATCH',
        core(namespace, 'configmaps/held'),
        {
          body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
          contentType: json('merge'),
        },
      ],
      [
        'PATCH',
        core(namespace, 'configmaps/held'),
        { body: { metadata: { finalizers: [] } }, contentType: json('merge') },
      ],
      ['GET', core(namespace, 'configmaps/held')],
      ['POST', core(namespace, 'configmaps'), { body: configMap('orphaning') }],
      ['DELETE', `${core(namespace, 'configmaps/orphaning')}?propagationPolicy=Orphan`],
      [
        'POST',
        core(namespace, 'configmaps'),
        { body: configMap('bad', {}, { finalizers: ['nonsense'] }) },
      ],
    ],
  },
  {
    name: 'server-side apply',
    steps: (namespace) => {
      const at = (name: string, manager: string, more = '') =>
        `${apps(namespace, `deployments/${name}`)}?fieldManager=${manager}${more}`;
      const path = (manager: string, more = '') => at('web', manager, more);
      return [
        ['PATCH', path('one'), { body: deployment('web', { replicas: 2 }), contentType: apply }],
        ['PATCH', path('one'), { body: deployment('web', { replicas: 2 }), contentType: apply }],
        ['PATCH', path('two'), { body: deployment('web', { replicas: 3 }), contentType: apply }],
        [
          'PATCH',
          path('two'),
          {
            body: deployment('web', { replicas: 2 }, { labels: { by: 'two' } }),
            contentType: apply,
          },
        ],
        [
          'PATCH',
          path('two', '&force=true'),
          { body: deployment('web', { replicas: 4 }), contentType: apply },
        ],
        ['PATCH', path('one'), { body: deployment('web'), contentType: apply }],
        [
          'PATCH',
          path('two'),
          {
            body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
            contentType: apply,
          },
        ],
        [
          'PATCH',
          `${apps(namespace, 'deployments/web/scale')}?fieldManager=scaler`,
          { body: { spec: { replicas: 9 } }, contentType: json('merge') },
        ],
        [
          'PATCH',
          path('one'),
          { body: deployment('web', { replicas: 2, paused: true }), contentType: apply },
        ],
        [
          'PATCH',
          `${apps(namespace, 'deployments/web/status')}?fieldManager=status`,
          {
            body: {
              apiVersion: 'apps/v1',
              kind: 'Deployment',
              metadata: { name: 'web' },
              status: {
                conditions: [
                  {
                    type: 'Available',
                    status: 'True',
                    lastUpdateTime: '2026-01-01T00:00:00Z',
                    lastTransitionTime: '2026-01-01T00:00:00Z',
                  },
                ],
              },
            },
            contentType: apply,
          },
        ],
        [
          'PATCH',
          apps(namespace, 'deployments/web'),
          { body: deployment('web'), contentType: apply },
        ],
        [
          'PATCH',
          path('one'),
          {
            body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'other' } },
            contentType: apply,
          },
        ],
        [
          'PATCH',
          path('one'),
          {
            body: {
              ...deployment('web'),
              metadata: { name: 'web', managedFields: [{ manager: 'x' }] },
            },
            contentType: apply,
          },
        ],
        [
          'PATCH',
          `${core(namespace, 'services/svc')}?fieldManager=one`,
          {
            body: service('svc', {
              selector: { a: 'b' },
              ports: [{ port: 80, name: 'http', protocol: 'TCP' }],
            }),
            contentType: apply,
          },
        ],
        [
          'PATCH',
          `${core(namespace, 'services/svc')}?fieldManager=two`,
          {
            body: service('svc', { ports: [{ port: 443, name: 'https', protocol: 'TCP' }] }),
            contentType: apply,
          },
        ],
        [
          'PATCH',
          `${core(namespace, 'services/svc')}?fieldManager=one`,
          { body: service('svc', { selector: { a: 'c' } }), contentType: apply },
        ],
        [
          'POST',
          `${core(namespace, 'configmaps')}?fieldManager=plain`,
          { body: configMap('cm', { a: '1', b: '2' }) },
        ],
        [
          'PATCH',
          `${core(namespace, 'configmaps/cm')}?fieldManager=applier`,
          { body: configMap('cm', { b: '2', c: '3' }), contentType: apply },
        ],
        [
          'PATCH',
          `${core(namespace, 'configmaps/cm')}?fieldManager=applier`,
          { body: configMap('cm', { a: '9' }), contentType: apply },
        ],
        [
          'PATCH',
          `${core(namespace, 'configmaps/cm')}?fieldManager=applier&force=true`,
          { body: configMap('cm', { a: '9' }), contentType: apply },
        ],
      ];
    },
  },
  {
    name: 'lists and their selectors',
    steps: (namespace) => [
      ...['a', 'b', 'c'].map(
        (name): Step => [
          'POST',
          core(namespace, 'configmaps'),
          { body: configMap(name, {}, { labels: { name, kind: name < 'c' ? 'early' : 'late' } }) },
        ],
      ),
      ['GET', `${core(namespace, 'configmaps')}?labelSelector=${encodeURIComponent('kind=early')}`],
      [
        'GET',
        `${core(namespace, 'configmaps')}?labelSelector=${encodeURIComponent('name in (a,c)')}`,
      ],
      ['GET', `${core(namespace, 'configmaps')}?labelSelector=${encodeURIComponent('!kind')}`],
      [
        'GET',
        `${core(namespace, 'configmaps')}?fieldSelector=${encodeURIComponent('metadata.name=b')}`,
      ],
      [
        'GET',
        `${core(namespace, 'configmaps')}?fieldSelector=${encodeURIComponent('metadata.name!=b')}`,
      ],
      [
        'GET',
        `${core(namespace, 'configmaps')}?fieldSelector=${encodeURIComponent('spec.nonsense=b')}`,
      ],
      ['GET', `${core(namespace, 'configmaps')}?limit=2`],
      ['GET', `${core(namespace, 'configmaps')}?limit=1&labelSelector=kind%3Dearly`],
      ['GET', `${core(namespace, 'configmaps')}?limit=x`],
      ['GET', `${core(namespace, 'configmaps')}?continue=nonsense`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersion=x`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersionMatch=Exact`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersionMatch=Exact&resourceVersion=0`],
      ['GET', `${core(namespace, 'configmaps')}?resourceVersionMatch=Nonsense&resourceVersion=1`],
      ['GET', `${core(namespace, 'configmaps')}?watch=true&sendInitialEvents=true`],
      ['GET', `${core(namespace, 'configmaps')}?watch=true&resourceVersionMatch=NotOlderThan`],
      [
        'GET',
        core(namespace, 'configmaps'),
        { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
      ],
      [
        'GET',
        core(namespace, 'configmaps/a'),
        { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } },
      ],
      [
        'GET',
        core(namespace, 'configmaps/a'),
        { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } },
      ],
      ['GET', core(namespace, 'configmaps'), { headers: { accept: 'text/plain' } }],
      ['DELETE', `${core(namespace, 'configmaps')}?labelSelector=kind%3Dearly`],
      ['GET', core(namespace, 'configmaps')],
    ],
  },
];
