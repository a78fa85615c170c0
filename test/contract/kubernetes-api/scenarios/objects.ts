import { configMap, core, patch, service, web, type Scenario } from './scenario.ts';

export const objectScenarios: readonly Scenario[] = [
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
        { body: { data: { still: 'writable' } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        core(namespace, 'configmaps/held'),
        {
          body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
          contentType: patch('merge'),
        },
      ],
      [
        'PATCH',
        core(namespace, 'configmaps/held'),
        { body: { metadata: { finalizers: [] } }, contentType: patch('merge') },
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
];
