import {
  apps,
  configMap,
  core,
  deployment,
  patch,
  service,
  web,
  type Scenario,
} from './scenario.ts';

const namespaces = '/api/v1/namespaces';
const namespace = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...metadata },
});

const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'example/web:1' }], ...spec },
});

export const lifecycleScenarios: readonly Scenario[] = [
  {
    name: 'namespaces come and go',
    steps: () => [
      ['POST', namespaces, { body: namespace('transient', { labels: { a: 'b' } }) }],
      ['POST', core('transient', 'configmaps'), { body: configMap('left-over') }],
      ['DELETE', `${namespaces}/transient`],
      ['GET', `${namespaces}/transient`],
      ['POST', core('transient', 'configmaps'), { body: configMap('late') }],
      [
        'PATCH',
        core('transient', 'configmaps/left-over'),
        { body: { data: { a: 'b' } }, contentType: patch('merge') },
      ],
      ['DELETE', core('transient', 'configmaps/left-over')],
      [
        'PUT',
        `${namespaces}/transient/finalize`,
        { body: { ...namespace('transient'), spec: { finalizers: [] } } },
      ],
      ['GET', `${namespaces}/transient`],
      ['DELETE', `${namespaces}/default`],
      ['DELETE', `${namespaces}/kube-system`],
      ['POST', namespaces, { body: namespace('Bad.Name') }],
      ['GET', `${namespaces}/not-there`],
      ['GET', core('not-there', 'configmaps')],
      ['GET', core('not-there', 'configmaps/x')],
    ],
  },
  {
    name: 'pods end gracefully',
    steps: (home) => [
      ['POST', core(home, 'pods'), { body: pod('unbound') }],
      ['DELETE', core(home, 'pods/unbound')],
      ['POST', core(home, 'pods'), { body: pod('bound', { nodeName: 'n1' }) }],
      ['DELETE', core(home, 'pods/bound')],
      ['GET', core(home, 'pods/bound')],
      ['DELETE', core(home, 'pods/bound'), { body: { gracePeriodSeconds: 50 } }],
      ['DELETE', core(home, 'pods/bound'), { body: { gracePeriodSeconds: 5 } }],
      ['DELETE', core(home, 'pods/bound'), { body: { gracePeriodSeconds: 0 } }],
      ['GET', core(home, 'pods/bound')],
      [
        'POST',
        core(home, 'pods'),
        { body: pod('short', { nodeName: 'n1', terminationGracePeriodSeconds: 0 }) },
      ],
      ['DELETE', core(home, 'pods/short')],
      ['GET', core(home, 'pods/short')],
    ],
  },
  {
    name: 'what a user cannot set',
    steps: (home) => [
      [
        'POST',
        core(home, 'configmaps'),
        {
          body: configMap(
            'a',
            {},
            {
              uid: 'mine',
              creationTimestamp: '2001-01-01T00:00:00Z',
              generation: 7,
              deletionTimestamp: '2001-01-01T00:00:00Z',
              selfLink: '/x',
            },
          ),
        },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        {
          body: {
            metadata: {
              creationTimestamp: '2001-01-01T00:00:00Z',
              deletionTimestamp: '2001-01-01T00:00:00Z',
              generation: 9,
            },
          },
          contentType: patch('merge'),
        },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        { body: { metadata: { name: 'b' } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        { body: { metadata: { namespace: 'other' } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        { body: { kind: 'Secret' }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        { body: { metadata: { resourceVersion: '1' } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        { body: { metadata: { managedFields: [{}] } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(home, 'configmaps/a'),
        { body: { data: { after: 'reset' } }, contentType: patch('merge') },
      ],
      ['POST', core(home, 'configmaps'), { body: configMap('immutable', { a: 'b' }) }],
      [
        'PATCH',
        core(home, 'configmaps/immutable'),
        { body: { immutable: true }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(home, 'configmaps/immutable'),
        { body: { data: { a: 'c' } }, contentType: patch('merge') },
      ],
      [
        'POST',
        core(home, 'configmaps'),
        {
          body: configMap(
            'owned',
            {},
            { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: '', uid: '' }] },
          ),
        },
      ],
    ],
  },
  {
    name: 'dry runs leave nothing',
    steps: (home) => [
      ['POST', core(home, 'services'), { body: service('a', web) }],
      [
        'PATCH',
        `${core(home, 'services/a')}?dryRun=All`,
        { body: { spec: { type: 'NodePort' } }, contentType: patch('merge') },
      ],
      ['PUT', `${core(home, 'services/b')}?dryRun=All`, { body: service('b', web) }],
      ['GET', core(home, 'services/a')],
      ['GET', core(home, 'services/b')],
      ['DELETE', `${core(home, 'services')}?dryRun=All`],
      ['GET', core(home, 'services')],
      ['POST', `${core(home, 'services')}?dryRun=Nonsense`, { body: service('c', web) }],
      ['DELETE', `${core(home, 'services/a')}?propagationPolicy=Nonsense`],
      ['DELETE', `${core(home, 'services/a')}?gracePeriodSeconds=0`],
    ],
  },
  {
    name: 'collections are deleted whole',
    steps: (home) => [
      ['POST', core(home, 'configmaps'), { body: configMap('a', {}, { labels: { x: '1' } }) }],
      [
        'POST',
        core(home, 'configmaps'),
        { body: configMap('held', {}, { finalizers: ['example.com/hold'] }) },
      ],
      ['DELETE', `${core(home, 'configmaps')}?fieldSelector=metadata.name%3Da`],
      ['DELETE', core(home, 'configmaps')],
      ['GET', core(home, 'configmaps')],
      ['DELETE', core(home, 'configmaps')],
      ['DELETE', '/api/v1/configmaps'],
      ['POST', '/api/v1/configmaps', { body: configMap('nowhere') }],
      ['PATCH', core(home, 'configmaps'), { body: {}, contentType: patch('merge') }],
      ['GET', core(home, 'configmaps/held/nonsense')],
      ['GET', core(home, 'configmaps/held/status')],
      ['POST', apps(home, 'deployments'), { body: deployment('web') }],
      ['POST', apps(home, 'deployments/web/scale'), { body: {} }],
      ['DELETE', apps(home, 'deployments/web/status')],
      ['GET', '/api/v1/namespaces/x/nodes'],
      ['GET', '/api/v2'],
      ['GET', '/apis/apps/v9'],
      ['GET', '/apis/apps/v1/nonsense'],
    ],
  },
];
