import {
  apply,
  apps,
  configMap,
  core,
  deployment,
  patch,
  service,
  type Scenario,
} from './scenario.ts';

export const applyScenarios: readonly Scenario[] = [
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
          { body: { spec: { replicas: 9 } }, contentType: patch('merge') },
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
];
