import { apps, deployment, patch, type Scenario } from './scenario.ts';

export const workloadScenarios: readonly Scenario[] = [
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
        { body: { spec: { replicas: 3 } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        `${apps(namespace, 'deployments/web')}?fieldManager=labeler`,
        {
          body: { metadata: { labels: { tier: 'front' } } },
          contentType: patch('strategic-merge'),
        },
      ],
      [
        'PATCH',
        `${apps(namespace, 'deployments/web')}?fieldManager=labeler`,
        {
          body: { metadata: { labels: { tier: 'front' } } },
          contentType: patch('strategic-merge'),
        },
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
          contentType: patch('strategic-merge'),
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
          contentType: patch('json'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: [{ op: 'test', path: '/spec/replicas', value: 99 }], contentType: patch('json') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: [{ op: 'remove', path: '/spec/nonsense' }], contentType: patch('json') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web/status'),
        {
          body: { status: { replicas: 3, observedGeneration: 4 }, spec: { replicas: 77 } },
          contentType: patch('merge'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { status: { replicas: 11 } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        {
          body: { spec: { selector: { matchLabels: { app: 'other' } } } },
          contentType: patch('merge'),
        },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { spec: { replicas: -1 } }, contentType: patch('merge') },
      ],
      [
        'PATCH',
        apps(namespace, 'deployments/web'),
        { body: { spec: { replicas: 'x' } }, contentType: patch('merge') },
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
        { body: { metadata: { finalizers: null } }, contentType: patch('merge') },
      ],
      ['GET', apps(namespace, 'deployments/web')],
    ],
  },
];
