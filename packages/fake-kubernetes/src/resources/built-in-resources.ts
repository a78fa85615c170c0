import type { Clock } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';
import type { ResourceDefinition } from '../resource-definition.ts';
import type { ObjectStore } from '../store.ts';
import { configMaps, secrets } from './config-map.ts';
import { customResourceDefinitions } from './custom/custom-resource-definition.ts';
import { daemonSets } from './daemon-set.ts';
import { deployments } from './deployment.ts';
import { endpointSlices } from './endpoint-slice.ts';
import { endpoints } from './endpoints.ts';
import { events, newEvents } from './event.ts';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscaler.ts';
import { leases } from './lease.ts';
import { namespaces } from './namespace.ts';
import { networkPolicies } from './network-policy.ts';
import { nodes } from './node.ts';
import { podDisruptionBudgets } from './pod-disruption-budget.ts';
import { pods } from './pod/pod.ts';
import { replicaSets, replicationControllers } from './replica-set.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './role.ts';
import { serviceAccounts } from './service-account.ts';
import { services } from './service/service.ts';
import { ServiceAllocations, type ServiceNetwork } from './service/service-allocations.ts';
import { controllerRevisions, statefulSets } from './stateful-set.ts';

/** The built-in kinds of the embedded API, over one store. */
export function builtInResources(
  store: ObjectStore,
  network: ServiceNetwork,
  random: Random,
  clock: Clock,
): readonly ResourceDefinition[] {
  return [
    configMaps,
    endpoints,
    events,
    newEvents,
    namespaces,
    nodes,
    pods,
    replicationControllers,
    secrets,
    serviceAccounts,
    services(new ServiceAllocations(store, network, random)),
    customResourceDefinitions(store, clock),
    controllerRevisions,
    daemonSets,
    deployments,
    replicaSets,
    statefulSets,
    horizontalPodAutoscalers,
    leases,
    endpointSlices,
    networkPolicies,
    podDisruptionBudgets,
    clusterRoleBindings,
    clusterRoles,
    roleBindings,
    roles,
  ];
}
