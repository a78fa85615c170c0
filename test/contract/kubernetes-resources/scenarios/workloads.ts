import {
  apps,
  core,
  deployment,
  patch,
  type Scenario,
} from '../../kubernetes-api/scenarios/scenario.ts';

const merge = (body: object) => ({ body, contentType: patch('merge') });
const template = (app: string, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'example/web:1' }], ...spec },
});

const workload = (kind: string, name: string, spec: object) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
});

export const workloadScenarios: readonly Scenario[] = [
  {
    name: 'Deployments that are refused',
    steps: (namespace) => {
      const refused: readonly object[] = [
        { replicas: -1 },
        { selector: null },
        { selector: {} },
        { selector: { matchLabels: { app: 'other' } } },
        { template: template('x', { restartPolicy: 'Never' }) },
        { template: template('x', { containers: [] }) },
        { strategy: { type: 'Sudden' } },
        { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
        { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
        { strategy: { rollingUpdate: { maxSurge: '10', maxUnavailable: '200%' } } },
        { progressDeadlineSeconds: 5, minReadySeconds: 10 },
        { revisionHistoryLimit: -1, minReadySeconds: -1 },
      ];
      return [
        ...refused.map(
          (spec) =>
            ['POST', apps(namespace, 'deployments'), { body: deployment('x', spec) }] as const,
        ),
        [
          'POST',
          apps(namespace, 'deployments'),
          { body: deployment('ok', { strategy: { type: 'Recreate' } }) },
        ],
        [
          'PATCH',
          apps(namespace, 'deployments/ok'),
          merge({ spec: { selector: { matchLabels: { app: 'ok', more: 'x' } } } }),
        ],
        ['PATCH', apps(namespace, 'deployments/ok'), merge({ spec: { replicas: 0 } })],
        ['GET', apps(namespace, 'deployments/ok/scale')],
      ];
    },
  },
  {
    name: 'StatefulSets and ReplicaSets',
    steps: (namespace) => [
      [
        'POST',
        apps(namespace, 'statefulsets'),
        {
          body: workload('StatefulSet', 'db', {
            serviceName: 'db',
            volumeClaimTemplates: [
              {
                metadata: { name: 'v' },
                spec: {
                  accessModes: ['ReadWriteOnce'],
                  resources: { requests: { storage: '1Gi' } },
                },
              },
            ],
          }),
        },
      ],
      [
        'POST',
        apps(namespace, 'statefulsets'),
        {
          body: workload('StatefulSet', 'x', {
            podManagementPolicy: 'Chaos',
            updateStrategy: { type: 'Sudden' },
          }),
        },
      ],
      [
        'POST',
        apps(namespace, 'statefulsets'),
        {
          body: workload('StatefulSet', 'x', {
            updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } },
          }),
        },
      ],
      [
        'POST',
        apps(namespace, 'statefulsets'),
        {
          body: workload('StatefulSet', 'x', {
            replicas: -1,
            selector: { matchLabels: { a: 'b' } },
          }),
        },
      ],
      ['POST', apps(namespace, 'statefulsets'), { body: workload('StatefulSet', 'with.dots', {}) }],
      ['PATCH', apps(namespace, 'statefulsets/db'), merge({ spec: { serviceName: 'other' } })],
      [
        'PATCH',
        apps(namespace, 'statefulsets/db'),
        merge({ spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } } }),
      ],
      ['GET', apps(namespace, 'statefulsets/db/scale')],
      [
        'PUT',
        apps(namespace, 'statefulsets/db/scale'),
        {
          body: {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name: 'db' },
            spec: { replicas: 5 },
          },
        },
      ],
      ['POST', apps(namespace, 'replicasets'), { body: workload('ReplicaSet', 'rs', {}) }],
      [
        'POST',
        apps(namespace, 'replicasets'),
        { body: workload('ReplicaSet', 'x', { selector: {} }) },
      ],
      [
        'PATCH',
        apps(namespace, 'replicasets/rs'),
        merge({ spec: { selector: { matchLabels: { a: 'b' } } } }),
      ],
      ['GET', apps(namespace, 'replicasets?fieldSelector=status.replicas=0')],
      [
        'POST',
        core(namespace, 'replicationcontrollers'),
        {
          body: {
            apiVersion: 'v1',
            kind: 'ReplicationController',
            metadata: { name: 'rc' },
            spec: { template: template('rc') },
          },
        },
      ],
      [
        'POST',
        core(namespace, 'replicationcontrollers'),
        {
          body: {
            apiVersion: 'v1',
            kind: 'ReplicationController',
            metadata: { name: 'x' },
            spec: { selector: { a: 'b' }, template: template('x') },
          },
        },
      ],
      ['GET', core(namespace, 'replicationcontrollers/rc/scale')],
    ],
  },
  {
    name: 'HorizontalPodAutoscalers',
    steps: (namespace) => {
      const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
      const hpa = (name: string, spec: object) => ({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name },
        spec: {
          maxReplicas: 3,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          ...spec,
        },
      });
      return [
        ['POST', path, { body: hpa('a', {}) }],
        [
          'POST',
          path,
          { body: hpa('b', { behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } }) },
        ],
        ['POST', path, { body: hpa('x', { maxReplicas: 0 }) }],
        ['POST', path, { body: hpa('x', { maxReplicas: 2, minReplicas: 5 }) }],
        ['POST', path, { body: hpa('x', { minReplicas: 0 }) }],
        ['POST', path, { body: hpa('x', { scaleTargetRef: { kind: '', name: 'a/b' } }) }],
        ...[
          {},
          { type: 'Odd' },
          { type: 'Resource' },
          { type: 'Resource', resource: { name: '', target: {} } },
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Odd', averageUtilization: 0 } },
          },
        ].map((metric) => ['POST', path, { body: hpa('x', { metrics: [metric] }) }] as const),
      ];
    },
  },
  {
    name: 'DaemonSets',
    steps: (namespace) => [
      ['POST', apps(namespace, 'daemonsets'), { body: workload('DaemonSet', 'agent', {}) }],
      [
        'POST',
        apps(namespace, 'daemonsets'),
        { body: workload('DaemonSet', 'x', { selector: {} }) },
      ],
      ['PATCH', apps(namespace, 'daemonsets/agent'), merge({ spec: { minReadySeconds: 5 } })],
      [
        'PATCH',
        apps(namespace, 'daemonsets/agent'),
        merge({ spec: { selector: { matchLabels: { a: 'b' } } } }),
      ],
    ],
  },
];
