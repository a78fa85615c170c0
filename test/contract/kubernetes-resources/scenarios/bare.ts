import type { Scenario } from '../../kubernetes-api/scenarios/scenario.ts';

/** The path of each kind, and whether it has a namespace. */
const kinds: readonly (readonly [apiVersion: string, plural: string, kind: string])[] = [
  ['v1', 'configmaps', 'ConfigMap'],
  ['v1', 'endpoints', 'Endpoints'],
  ['v1', 'events', 'Event'],
  ['v1', 'pods', 'Pod'],
  ['v1', 'replicationcontrollers', 'ReplicationController'],
  ['v1', 'secrets', 'Secret'],
  ['v1', 'serviceaccounts', 'ServiceAccount'],
  ['v1', 'services', 'Service'],
  ['apps/v1', 'controllerrevisions', 'ControllerRevision'],
  ['apps/v1', 'daemonsets', 'DaemonSet'],
  ['apps/v1', 'deployments', 'Deployment'],
  ['apps/v1', 'replicasets', 'ReplicaSet'],
  ['apps/v1', 'statefulsets', 'StatefulSet'],
  ['autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'],
  ['coordination.k8s.io/v1', 'leases', 'Lease'],
  ['discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'],
  ['events.k8s.io/v1', 'events', 'Event'],
  ['networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy'],
  ['policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'],
  ['rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding'],
  ['rbac.authorization.k8s.io/v1', 'roles', 'Role'],
];

const hasSpec = new Set([
  'DaemonSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'Lease',
  'NetworkPolicy',
  'Pod',
  'PodDisruptionBudget',
  'ReplicaSet',
  'ReplicationController',
  'Service',
  'StatefulSet',
]);

/** Empty objects: missing fields must be a cause, not a crash. */
export const bareScenarios: readonly Scenario[] = [
  {
    name: 'objects with nothing in them',
    steps: (namespace) =>
      kinds.flatMap(([apiVersion, plural, kind]) => {
        const prefix = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
        const path = `${prefix}/namespaces/${namespace}/${plural}`;
        const object = (name: string) => ({ apiVersion, kind, metadata: { name } });
        const steps = [['POST', path, { body: object('bare') }] as const];
        // A Service without a name is rejected for a reason that only makes sense inside a real server.
        if (kind !== 'Service' && kind !== 'Event') {
          steps.push(['POST', path, { body: object('') }] as const);
        }
        if (!hasSpec.has(kind)) return steps;
        return [...steps, ['POST', path, { body: { ...object('empty'), spec: {} } }] as const];
      }),
  },
  {
    name: 'definitions with nothing in them',
    steps: () => {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const definition = (fields: object) => ({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'things.example.com' },
        ...fields,
      });
      return [
        ['POST', path, { body: definition({}) }],
        ['POST', path, { body: definition({ spec: {} }) }],
        [
          'POST',
          path,
          { body: definition({ spec: { group: 'example.com', versions: [{ name: 'v1' }] } }) },
        ],
        [
          'POST',
          '/api/v1/nodes',
          { body: { apiVersion: 'v1', kind: 'Node', metadata: { name: '' } } },
        ],
      ];
    },
  },
];
