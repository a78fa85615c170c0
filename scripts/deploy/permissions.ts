import { addressRecordsName } from '../../packages/causeway/src/gateway/controller/ports/address-records.ts';
import { portRecordsName } from '../../packages/causeway/src/gateway/controller/ports/port-records.ts';
import { guardRegisterName } from '../../packages/causeway/src/services/guard-register.ts';
import { orphanRegisterName } from '../../packages/causeway/src/services/orphan-register.ts';
import { gatewayConfigMapName } from '../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import { poolKinds } from '../../packages/causeway/src/pool/detect-announcer.ts';
import { legacyReleasesName } from '../../packages/causeway/src/pool/legacy.ts';
import { pendingReleasesName } from '../../packages/causeway/src/pool/pending-releases.ts';
import { metalLbStatuses } from '../../packages/causeway/src/pool/withdrawal.ts';
import { kuryrLoadBalancerDefinition } from '../../packages/causeway/src/octavia/definition.ts';

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Permissions of a part, by namespace. */
export interface Permissions {
  readonly everywhere?: readonly Rule[];
  /** In the part's own namespace. */
  readonly atHome?: readonly Rule[];
  /** In the namespace where nodes report the activity of Services. */
  readonly inReports?: readonly Rule[];
  readonly inKubeSystem?: readonly Rule[];
}

const rule = (group: string, resources: readonly string[], verbs: string): Rule => ({
  apiGroups: [group],
  resources,
  verbs: verbs.split(' '),
});
/** Only objects of these names. `list` and `watch` are allowed with a selector for one name. */
const named = (group: string, resource: string, verbs: string, ...names: string[]): Rule => ({
  ...rule(group, [resource], verbs),
  resourceNames: names,
});

const core = '';
const slices = 'discovery.k8s.io';
const coordination = 'coordination.k8s.io';
/** `get` verifies that objects which a list lacks are really gone. */
const follow = 'get list watch';

const events = rule(core, ['events'], 'create patch');
/** `create` can't be limited to a name: the API server checks the permission before it knows the name. */
const lease = (name: string): Rule[] => [
  rule(coordination, ['leases'], 'create'),
  named(coordination, 'leases', `${follow} update`, name),
];
/** What the controller of Services writes, with any provider. */
const servedServices = [
  rule(core, ['services'], `${follow} patch`),
  rule(core, ['services/status'], 'patch'),
];
const endpointsAndNodes = [rule(slices, ['endpointslices'], follow), rule(core, ['nodes'], follow)];

/** The UID of the namespace is the cluster's identity. */
const identity = named(core, 'namespaces', 'get', 'kube-system');

const scalable = ['deployments', 'replicasets', 'statefulsets'];

/** Permissions of each part: exactly what its code calls. `test/cluster/install` compares both. */
export const permissions = {
  controller: {
    everywhere: [events, identity],
    atHome: lease('causeway-controller'),
  },
  gateway: {
    everywhere: [...servedServices, ...endpointsAndNodes],
    atHome: [
      rule(core, ['configmaps'], 'create'),
      named(core, 'configmaps', `${follow} patch`, gatewayConfigMapName),
      named(
        core,
        'configmaps',
        'get patch',
        addressRecordsName,
        portRecordsName,
        orphanRegisterName,
        guardRegisterName,
      ),
    ],
  },
  'gateway-pods': {
    everywhere: [
      rule(core, ['pods'], follow),
      rule('networking.k8s.io', ['networkpolicies'], follow),
    ],
  },
  octavia: {
    everywhere: [
      ...servedServices,
      ...endpointsAndNodes,
      rule(core, ['endpoints'], 'get patch'),
      rule('openstack.org', ['kuryrloadbalancers'], `${follow} create patch delete`),
      rule('openstack.org', ['kuryrloadbalancers/status'], 'patch'),
      named(
        'apiextensions.k8s.io',
        'customresourcedefinitions',
        'get',
        kuryrLoadBalancerDefinition.metadata?.name ?? '',
      ),
    ],
    atHome: [
      rule(core, ['configmaps'], 'create'),
      named(core, 'configmaps', 'get patch', orphanRegisterName, guardRegisterName),
    ],
  },
  pool: {
    everywhere: [
      ...servedServices,
      rule(core, ['nodes'], follow),
      // kube-vip and Cilium show with their leases whether an address is still announced.
      rule(coordination, ['leases'], 'get list'),
      ...announcerRules(),
    ],
    // kube-vip, which has no resources of its own.
    inKubeSystem: [rule('apps', ['daemonsets'], 'list'), rule(core, ['pods'], 'list')],
    atHome: [
      rule(core, ['configmaps'], 'create'),
      named(
        core,
        'configmaps',
        'get patch',
        pendingReleasesName,
        legacyReleasesName,
        guardRegisterName,
      ),
      rule(coordination, ['leases'], 'create'),
      named(coordination, 'leases', 'get patch delete', 'causeway-pool-contact'),
    ],
  },
  idling: {
    everywhere: [
      rule(core, ['services'], `${follow} patch`),
      rule(core, ['events'], follow),
      rule(core, ['endpoints'], 'get list patch'),
      rule(slices, ['endpointslices'], 'list'),
      rule(core, ['pods'], 'get list'),
      rule(core, ['nodes'], 'list'),
      rule(core, ['replicationcontrollers'], 'get list patch'),
      rule(core, ['replicationcontrollers/scale'], 'get patch'),
      rule('apps', scalable, 'get list patch'),
      rule(
        'apps',
        scalable.map((name) => `${name}/scale`),
        'get patch',
      ),
      rule('autoscaling', ['horizontalpodautoscalers'], 'list patch'),
    ],
    inReports: [rule(core, ['configmaps'], 'list')],
  },
  dashboard: {
    everywhere: [
      rule(core, ['services', 'events'], follow),
      rule(slices, ['endpointslices'], follow),
    ],
    // The health of Services on gateways.
    atHome: [named(core, 'configmaps', 'get', gatewayConfigMapName)],
  },
  discovery: {
    everywhere: [
      events,
      rule(core, ['namespaces'], `${follow} create`),
      rule(core, ['services', 'endpoints'], `${follow} create update delete`),
      rule(slices, ['endpointslices'], `${follow} create update delete`),
    ],
    atHome: [
      ...lease('causeway-discovery'),
      named(core, 'secrets', 'get', 'causeway-discovery-cloud'),
    ],
  },
  proxy: {
    everywhere: [
      events,
      identity,
      rule(core, ['services', 'nodes'], follow),
      rule(slices, ['endpointslices'], follow),
      rule('networking.k8s.io', ['servicecidrs'], follow),
      rule('network.openshift.io', ['egressnetworkpolicies'], follow),
    ],
    // OpenShift requires the permission to delete a report for setting its Node as owner.
    inReports: [rule(core, ['configmaps'], 'create patch delete')],
  },
} satisfies Record<string, Permissions>;

export type Part = keyof typeof permissions;

/** Resources that announcers use, in one rule for each of their groups. */
function announcerRules(): Rule[] {
  const plurals = new Map<string, Set<string>>();
  for (const { group, plural } of [
    ...poolKinds.map(({ resource }) => resource),
    ...metalLbStatuses,
  ]) {
    plurals.set(group, (plurals.get(group) ?? new Set()).add(plural));
  }
  return [...plurals].map(([group, names]) => rule(group, [...names], 'list'));
}
