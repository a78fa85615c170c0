import type {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  ServiceAccount,
} from './core-objects.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import type { EndpointSlice, NetworkPolicy } from './network-objects.ts';
import type { KubeObject } from './object.ts';
import { apiVersionOf, defineResource, type Resource } from './resource.ts';
import type {
  Deployment,
  HorizontalPodAutoscaler,
  Lease,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from './workload-objects.ts';

function builtIn<T extends KubeObject>(
  apiVersion: string,
  plural: string,
  kind: string,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Resource<T> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return defineResource<T>({
    group: group ?? '',
    version: version ?? '',
    plural,
    kind,
    namespaced: scope === 'Namespaced',
  });
}

export const namespaces = builtIn<Namespace>('v1', 'namespaces', 'Namespace', 'Cluster');
export const nodes = builtIn<Node>('v1', 'nodes', 'Node', 'Cluster');
export const services = builtIn<Service>('v1', 'services', 'Service');
export const endpoints = builtIn<Endpoints>('v1', 'endpoints', 'Endpoints');
export const pods = builtIn<Pod>('v1', 'pods', 'Pod');
export const secrets = builtIn<Secret>('v1', 'secrets', 'Secret');
export const configMaps = builtIn<ConfigMap>('v1', 'configmaps', 'ConfigMap');
export const serviceAccounts = builtIn<ServiceAccount>('v1', 'serviceaccounts', 'ServiceAccount');
export const events = builtIn<Event>('v1', 'events', 'Event');
export const replicationControllers = builtIn<ReplicationController>(
  'v1',
  'replicationcontrollers',
  'ReplicationController',
);
export const deployments = builtIn<Deployment>('apps/v1', 'deployments', 'Deployment');
export const replicaSets = builtIn<ReplicaSet>('apps/v1', 'replicasets', 'ReplicaSet');
export const statefulSets = builtIn<StatefulSet>('apps/v1', 'statefulsets', 'StatefulSet');
export const horizontalPodAutoscalers = builtIn<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'horizontalpodautoscalers',
  'HorizontalPodAutoscaler',
);
export const endpointSlices = builtIn<EndpointSlice>(
  'discovery.k8s.io/v1',
  'endpointslices',
  'EndpointSlice',
);
export const networkPolicies = builtIn<NetworkPolicy>(
  'networking.k8s.io/v1',
  'networkpolicies',
  'NetworkPolicy',
);
export const leases = builtIn<Lease>('coordination.k8s.io/v1', 'leases', 'Lease');
export const customResourceDefinitions = builtIn<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  'Cluster',
);

/** Every built-in resource that Causeway uses. */
export const builtInResources: readonly Resource[] = [
  namespaces,
  nodes,
  services,
  endpoints,
  pods,
  secrets,
  configMaps,
  serviceAccounts,
  events,
  replicationControllers,
  deployments,
  replicaSets,
  statefulSets,
  horizontalPodAutoscalers,
  endpointSlices,
  networkPolicies,
  leases,
  customResourceDefinitions,
];

/** The built-in resource of this `apiVersion` and `kind`. */
export function findBuiltInResource(apiVersion: string, kind: string): Resource | undefined {
  return builtInResources.find(
    (resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion,
  );
}
