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

const strategic = patch('strategic-merge');
const container = (name: string, more: object = {}) => ({
  name,
  image: `example/${name}:1`,
  ...more,
});
const containers = (list: unknown, more: object = {}) => ({
  spec: { template: { spec: { containers: list, ...more } } },
});

export const patchScenarios: readonly Scenario[] = [
  {
    name: 'strategic merge patches',
    steps: (namespace) => {
      const web = apps(namespace, 'deployments/web');
      const spec = containers([
        container('a', {
          env: [
            { name: 'X', value: '1' },
            { name: 'Y', value: '2' },
          ],
        }),
        container('b'),
      ]).spec;
      const step = (body: unknown) => ['PATCH', web, { body, contentType: strategic }] as const;
      return [
        [
          'POST',
          apps(namespace, 'deployments'),
          {
            body: deployment(
              'web',
              { template: { metadata: { labels: { app: 'web' } }, spec: spec.template.spec } },
              { finalizers: ['example.com/a', 'example.com/b'] },
            ),
          },
        ],
        step(containers([{ name: 'c', image: 'example/c:1' }])),
        step(containers([{ name: 'a', $patch: 'delete' }])),
        step(containers([{ $patch: 'replace' }, container('z')])),
        step(
          containers([container('y')], {
            '$setElementOrder/containers': [{ name: 'z' }, { name: 'y' }],
          }),
        ),
        step({
          spec: {
            template: { spec: { '$setElementOrder/containers': [{ name: 'y' }, { name: 'z' }] } },
          },
        }),
        step({ metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } }),
        step({ metadata: { finalizers: ['example.com/c'] } }),
        step({ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
        step({
          spec: {
            template: { metadata: { labels: { $patch: 'replace', app: 'web', only: 'this' } } },
          },
        }),
        step({ metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }),
        step({ metadata: { labels: null, annotations: { c: null } } }),
        step(
          containers([
            { name: 'z', ports: [{ containerPort: 80 }, { containerPort: 81, protocol: 'UDP' }] },
          ]),
        ),
        step(containers([{ name: 'z', ports: [{ containerPort: 80, name: 'http' }] }])),
        step(containers([{ name: 'z', command: ['a', 'b'] }])),
        step(containers([{ name: 'z', command: ['c'] }])),
        step({ spec: { replicas: null } }),
        step({
          spec: {
            template: {
              spec: { tolerations: [{ key: 'a', operator: 'Exists' }], nodeSelector: { x: 'y' } },
            },
          },
        }),
        step({ spec: { template: { spec: { nodeSelector: { x: null, z: 'w' } } } } }),
      ];
    },
  },
  {
    name: 'JSON and merge patches',
    steps: (namespace) => {
      const one = core(namespace, 'configmaps/a');
      const json = (body: unknown) => ['PATCH', one, { body, contentType: patch('json') }] as const;
      const merge = (body: unknown) =>
        ['PATCH', one, { body, contentType: patch('merge') }] as const;
      return [
        [
          'POST',
          core(namespace, 'configmaps'),
          { body: configMap('a', { x: '1', 'with/slash': '2' }) },
        ],
        json([{ op: 'add', path: '/data/y', value: '2' }]),
        json([{ op: 'remove', path: '/data/with~1slash' }]),
        json([
          { op: 'move', from: '/data/y', path: '/data/z' },
          { op: 'copy', from: '/data/z', path: '/data/copy' },
        ]),
        json([
          { op: 'test', path: '/data/x', value: '1' },
          { op: 'replace', path: '/data/x', value: '9' },
        ]),
        json([{ op: 'add', path: '/metadata/labels/x', value: 'y' }]),
        json([{ op: 'add', path: '/metadata/labels', value: { x: 'y' } }]),
        json([
          { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
          { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/b' },
        ]),
        json([{ op: 'remove', path: '/metadata/finalizers/0' }]),
        json([{ op: 'remove', path: '/metadata/finalizers/7' }]),
        json([]),
        merge({}),
        merge({ data: { x: null, new: 'value' } }),
        merge({ data: null }),
        merge({ metadata: { labels: { bad: 1 } } }),
        merge({ nonsense: 1 }),
        [
          'PATCH',
          `${one}?fieldValidation=Strict`,
          { body: { nonsense: 1 }, contentType: patch('merge') },
        ],
        [
          'PATCH',
          core(namespace, 'configmaps/not-there'),
          { body: {}, contentType: patch('merge') },
        ],
      ];
    },
  },
  {
    name: 'applying in detail',
    steps: (namespace) => {
      const at = (name: string, manager: string, more = '') =>
        `${core(namespace, `configmaps/${name}`)}?fieldManager=${manager}${more}`;
      const send = (manager: string, body: unknown, more = '') =>
        ['PATCH', at('a', manager, more), { body, contentType: apply }] as const;
      const svc = (manager: string, spec: object, more = '') =>
        [
          'PATCH',
          `${core(namespace, 'services/s')}?fieldManager=${manager}${more}`,
          { body: service('s', spec), contentType: apply },
        ] as const;
      return [
        send(
          'one',
          configMap('a', { x: '1' }, { labels: { l: '1' }, finalizers: ['example.com/one'] }),
          '&dryRun=All',
        ),
        send(
          'one',
          configMap('a', { x: '1' }, { labels: { l: '1' }, finalizers: ['example.com/one'] }),
        ),
        send('two', configMap('a', { y: '2' }, { finalizers: ['example.com/two'] })),
        send('one', configMap('a', { x: '1' })),
        send('two', configMap('a', { x: '1' })),
        send('one', configMap('a')),
        send('two', configMap('a')),
        send('one', `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  from: yaml\n`),
        send('one', configMap('a', { from: 'yaml' }, { resourceVersion: '1' })),
        send('one', { ...configMap('a', { from: 'yaml' }), nonsense: 1 }),
        send(
          'one',
          { ...configMap('a', { from: 'yaml' }), nonsense: 1 },
          '&fieldValidation=Strict',
        ),
        send('one', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } }),
        send('one', configMap('a', { from: null as unknown as string })),
        [
          'PATCH',
          core(namespace, 'configmaps/a'),
          { body: { data: { by: 'update' } }, contentType: patch('merge') },
        ],
        send('one', configMap('a', { by: 'apply' })),
        send('one', configMap('a', { by: 'apply' }), '&force=true'),
        ['DELETE', core(namespace, 'configmaps/a')],
        svc('one', {
          selector: { a: 'b' },
          ports: [{ port: 80 }, { port: 80, protocol: 'UDP', name: 'u' }],
        }),
        svc('one', {
          selector: { a: 'b' },
          ports: [
            { port: 80, name: 't' },
            { port: 80, protocol: 'UDP', name: 'u' },
          ],
        }),
        svc('two', { externalIPs: ['192.0.2.1'] }),
        svc('three', { externalIPs: ['192.0.2.1', '192.0.2.2'] }),
        svc('three', { externalIPs: ['192.0.2.1', '192.0.2.2'] }, '&force=true'),
        svc('one', { selector: { a: 'b' }, ports: [{ port: 80, protocol: 'UDP', name: 'u' }] }),
        svc('one', {
          selector: { a: 'b' },
          ports: [
            { port: 80, name: 'x' },
            { port: 80, name: 'y' },
          ],
        }),
      ];
    },
  },
];
