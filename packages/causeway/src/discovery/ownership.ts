import {
  keyOf,
  type KubeObject,
  type ObjectMeta,
  type StringMap,
} from '@causeway/kubernetes/objects/object';
import { labelKey, labelValue } from './names.ts';

export const labels = {
  backend: 'causeway.dev/backend',
  projectId: 'causeway.dev/project-id',
  loadBalancerId: 'causeway.dev/load-balancer-id',
  managedBy: 'app.kubernetes.io/managed-by',
  serviceName: 'kubernetes.io/service-name',
  sliceManagedBy: 'endpointslice.kubernetes.io/managed-by',
} as const;

export const annotations = {
  discoveredAs: 'causeway.dev/discovered-as',
  discoveredFrom: 'causeway.dev/discovered-from',
  projectName: 'causeway.dev/project-name',
  loadBalancerName: 'causeway.dev/load-balancer-name',
  loadBalancerAddress: 'causeway.dev/load-balancer-address',
  listeners: 'causeway.dev/listeners',
  l7Pools: 'causeway.dev/l7-pools',
  weights: 'causeway.dev/weights',
  content: 'causeway.dev/content',
} as const;

export const manager = 'causeway-discovery';

/**
 * Discovery manages everything under these prefixes on its objects; all other labels and annotations are left
 * alone.
 */
const ownPrefixes = ['causeway.dev/', 'gimbal.projectcontour.io/'];
const ownKeys: ReadonlySet<string> = new Set([
  labels.managedBy,
  labels.serviceName,
  labels.sliceManagedBy,
]);

/** The source of an object, as its marks state it. */
export interface Origin {
  readonly backend: string;
  readonly project: { readonly id: string; readonly name: string };
  readonly loadBalancer: { readonly id: string; readonly name: string };
}

export function originLabels({ backend, project, loadBalancer }: Origin): Record<string, string> {
  const name = labelValue(loadBalancer.name);
  return {
    [labels.backend]: backend,
    [labels.projectId]: labelKey(project.id),
    [labels.loadBalancerId]: labelKey(loadBalancer.id),
    [labels.managedBy]: manager,
    'gimbal.projectcontour.io/backend': backend,
    'gimbal.projectcontour.io/service': name,
    'gimbal.projectcontour.io/load-balancer-id': labelKey(loadBalancer.id),
    'gimbal.projectcontour.io/load-balancer-name': name,
  };
}

/**
 * The marks that identify a discovered object. They name the object itself, so that a copy under another name
 * is not mistaken for it. They also name its source, so that edited labels are noticed.
 */
export function originMarks(
  { backend, project, loadBalancer }: Origin,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Record<string, string> {
  return {
    [annotations.discoveredAs]: `${backend}/${namespace}/${name}`,
    [annotations.discoveredFrom]: `${labelKey(project.id)}/${labelKey(loadBalancer.id)}`,
  };
}

/** The marks of an object, which are the same for any discovered object of that name. */
export function marksOf({ metadata }: KubeObject): StringMap {
  const marks: readonly string[] = [annotations.discoveredAs, annotations.discoveredFrom];
  return Object.fromEntries(
    Object.entries(metadata?.annotations ?? {}).filter(([key]) => marks.includes(key)),
  );
}

/** Both as labels carry them. */
export interface Source {
  readonly projectId: string;
  readonly loadBalancerId: string;
}

/**
 * The source of an object, by its mark and by its labels. Undefined if they differ: one of them was edited,
 * so neither is trusted. A plan that needs the object corrects it.
 */
export function sourceOf(object: KubeObject): Source | undefined {
  const [first, second] = sourcesOf(object);
  return second === undefined ? first : undefined;
}

/** All sources that an object names: a single one unless its marks were edited. */
export function sourcesOf({ metadata }: KubeObject): Source[] {
  const label = (name: string) => metadata?.labels?.[name] ?? '';
  const mark = metadata?.annotations?.[annotations.discoveredFrom] ?? '';
  const labelled = `${label(labels.projectId)}/${label(labels.loadBalancerId)}`;
  return [...new Set([mark, labelled])].flatMap((text) => {
    const [projectId, loadBalancerId] = text.split('/');
    return projectId && loadBalancerId ? [{ projectId, loadBalancerId }] : [];
  });
}

/** Certainly a discovered object: it may be deleted. */
export function isOurs(backend: string, object: KubeObject): boolean {
  return object.metadata?.annotations?.[annotations.discoveredAs] === `${backend}/${keyOf(object)}`;
}

/** Its mark names another object: it is a copy of a discovered object. */
export function isCopy(backend: string, object: KubeObject): boolean {
  const mark = object.metadata?.annotations?.[annotations.discoveredAs];
  return mark !== undefined && !isOurs(backend, object);
}

/** A discovered object, or one without marks: enough to correct an object that is needed under this name. */
export function wasOurs(backend: string, object: KubeObject): boolean {
  const own = object.metadata?.labels ?? {};
  return (
    isOurs(backend, object) ||
    (own[labels.backend] === backend && own[labels.managedBy] === manager)
  );
}

/** The discovered metadata beside the metadata of others. */
export function mergeMetadata(actual: ObjectMeta, wanted: ObjectMeta): ObjectMeta {
  return {
    ...actual,
    labels: { ...othersOf(actual.labels), ...wanted.labels },
    annotations: { ...othersOf(actual.annotations), ...wanted.annotations },
  };
}

/** The discovered labels or annotations, for comparison. */
export function ownPart(map: StringMap | undefined): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => isOwnKey(key)));
}

function othersOf(map: StringMap | undefined): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !isOwnKey(key)));
}

function isOwnKey(key: string): boolean {
  return ownKeys.has(key) || ownPrefixes.some((prefix) => key.startsWith(prefix));
}
