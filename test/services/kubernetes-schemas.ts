import { isObject, type JsonObject } from '../../packages/fake-kubernetes/src/object.ts';

/** The built-in kinds with schemas in the embedded API. */
export const builtInKinds: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'ConfigMap',
    'DeleteOptions',
    'Endpoints',
    'Event',
    'Namespace',
    'Node',
    'Pod',
    'ReplicationController',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apps/v1': [
    'ControllerRevision',
    'DaemonSet',
    'Deployment',
    'ReplicaSet',
    'Scale',
    'StatefulSet',
  ],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'coordination.k8s.io/v1': ['Lease'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'events.k8s.io/v1': ['Event'],
  'networking.k8s.io/v1': ['NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
};

export interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

/** The name of a group and version under `/openapi/v3`. */
export function documentName(groupVersion: string): string {
  return groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;
}

/** The schemas of some kinds and of everything they refer to, without descriptions. */
export function schemasOf(
  document: OpenApiDocument,
  kinds: readonly string[],
): Record<string, unknown> {
  const all = document.components.schemas;
  const open = Object.keys(all).filter(
    (name) => kinds.includes(name.split('.').at(-1) ?? '') && isKind(all[name]),
  );
  const found: Record<string, unknown> = {};
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found[name] !== undefined) continue;
    found[name] = withoutDescriptions(all[name]);
    open.push(...references(all[name]));
  }
  return found;
}

const isKind = (schema: JsonObject | undefined) =>
  schema?.['x-kubernetes-group-version-kind'] !== undefined;

/** Descriptions are text without meaning here; under `properties` a description is a field of that name. */
export function withoutDescriptions(schema: unknown, isProperties = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutDescriptions(item));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => isProperties || name !== 'description')
      .map(([name, value]) => [
        name,
        withoutDescriptions(value, name === 'properties' && !isProperties),
      ]),
  );
}

function references(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item) => references(item));
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string'
      ? [value.split('/').at(-1) ?? '']
      : references(value),
  );
}
