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

/** Everything under these is ours on our objects; all other labels and annotations are left alone. */
const ownPrefixes = ['causeway.dev/', 'gimbal.projectcontour.io/'];
const ownKeys: ReadonlySet<string> = new Set([
  labels.managedBy,
  labels.serviceName,
  labels.sliceManagedBy,
]);

/** What every object says about where it came from. */
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
 * The marks by which an object is known again. They name the object itself, so that a copy of it under
 * another name is not taken for ours, and where it came from, so that edited labels are noticed.
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

/** The marks of an object, which are those of any other object of ours with the same name. */
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
 * Where an object came from, by its mark and by its labels. Undefined where they differ: somebody has
 * edited one of them, so neither is believed. Whoever needs an object in that place makes it right.
 */
export function sourceOf(object: KubeObject): Source | undefined {
  const [first, second] = sourcesOf(object);
  return second === undefined ? first : undefined;
}

/** All that an object names as its source: one where nobody has edited it. */
export function sourcesOf({ metadata }: KubeObject): Source[] {
  const label = (name: string) => metadata?.labels?.[name] ?? '';
  const mark = metadata?.annotations?.[annotations.discoveredFrom] ?? '';
  const labelled = `${label(labels.projectId)}/${label(labels.loadBalancerId)}`;
  return [...new Set([mark, labelled])].flatMap((text) => {
    const [projectId, loadBalancerId] = text.split('/');
    return projectId && loadBalancerId ? [{ projectId, loadBalancerId }] : [];
  });
}

/** Ours without any doubt: it may be deleted. */
export function isOurs(backend: string, object: KubeObject): boolean {
  return object.metadata?.annotations?.[annotations.discoveredAs] === `${backend}/${keyOf(object)}`;
}

/** It says of itself that it is another object: someone has copied one of ours. */
export function isCopy(backend: string, object: KubeObject): boolean {
  const mark = object.metadata?.annotations?.[annotations.discoveredAs];
  return mark !== undefined && !isOurs(backend, object);
}

/** Ours unless somebody took our marks off: enough to make an object right that we need under this name. */
export function wasOurs(backend: string, object: KubeObject): boolean {
  const own = object.metadata?.labels ?? {};
  return (
    isOurs(backend, object) ||
    (own[labels.backend] === backend && own[labels.managedBy] === manager)
  );
}

/** Our metadata beside what others have put on the object. */
export function mergeMetadata(actual: ObjectMeta, wanted: ObjectMeta): ObjectMeta {
  return {
    ...actual,
    labels: { ...othersOf(actual.labels), ...wanted.labels },
    annotations: { ...othersOf(actual.annotations), ...wanted.annotations },
  };
}

/** The part of the labels or annotations that is ours, for comparing. */
export function ownPart(map: StringMap | undefined): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => isOwnKey(key)));
}

function othersOf(map: StringMap | undefined): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !isOwnKey(key)));
}

function isOwnKey(key: string): boolean {
  return ownKeys.has(key) || ownPrefixes.some((prefix) => key.startsWith(prefix));
}
