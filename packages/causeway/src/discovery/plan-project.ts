import type { Prefix } from '@causeway/base/address/prefix';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { changeOf } from './compare-objects.ts';
import { asWritten } from './content-mark.ts';
import { contentOf, lossBetween, wholeLoss, type CurrentObjects, type Loss } from './content.ts';
import { endpointsObject, tooManyToMirror } from './endpoints-object.ts';
import { withoutLosses } from './concurrent-change.ts';
import { labelKey, serviceName } from './names.ts';
import { isOurs, sourceOf, wasOurs, type Origin } from './ownership.ts';
import type { Problem } from './problem.ts';
import type { LoadBalancerView, ProjectTree, UnclearLoadBalancer } from './project-tree.ts';
import { sliceObjects } from './slice-objects.ts';
import { serviceObject, withoutForeignPorts, type ServiceType } from './service-object.ts';
import { translate, type Translation } from './translate.ts';

export interface TranslationOptions {
  readonly backend: string;
  readonly serviceType: ServiceType;
  readonly endpointsKind: 'EndpointSlice' | 'Endpoints';
  /** Members outside of these are left out; if empty, members may be anywhere. */
  readonly memberNetworks: readonly Prefix[];
}

export type Write =
  | { readonly verb: 'create'; readonly resource: Resource; readonly wanted: KubeObject }
  | {
      readonly verb: 'update' | 'replace';
      readonly resource: Resource;
      readonly wanted: KubeObject;
      readonly actual: KubeObject;
    };

export interface Removal {
  readonly resource: Resource;
  readonly actual: KubeObject;
}

export interface LoadBalancerPlan {
  /** As labels carry it. */
  readonly id: string;
  readonly name: string;
  /** Namespace and name of its Service. */
  readonly place: { readonly namespace: string; readonly name: string };
  readonly writes: readonly Write[];
  /** If there is a loss: the writes that need no decision. */
  readonly interim: readonly Write[];
  /** Applied only after all writes have succeeded. */
  readonly removals: readonly Removal[];
  /** Undefined if there is no relevant loss. */
  readonly loss: Loss | undefined;
  /** Whether it gets a Service: an ordinary one can't be without ports. */
  readonly hasService: boolean;
  /** Whether it will have endpoints that clients can reach. */
  readonly hasContent: boolean;
  readonly problems: readonly Problem[];
  /** Undefined for a load balancer that is no longer in the cloud, or is not fully visible. */
  readonly translation: Translation | undefined;
  /** Whether it is in the cloud. */
  readonly isUpstream: boolean;
}

export interface ProjectSource {
  readonly project: { readonly id: string; readonly name: string };
  readonly namespace: string;
  readonly tree: ProjectTree;
}

/**
 * The changes that make a project's load balancers Services: one plan each, empty if nothing has to change.
 */
export function planProject(
  { project, namespace, tree }: ProjectSource,
  current: CurrentObjects,
  options: TranslationOptions,
): LoadBalancerPlan[] {
  const { backend } = options;
  const before = byLoadBalancer(current);
  const plans = tree.loadBalancers.map((loadBalancer) => {
    const id = labelKey(loadBalancer.id);
    const own = before.get(id) ?? nothing;
    before.delete(id);
    return planLoadBalancer({ backend, project, loadBalancer }, namespace, own, options);
  });
  for (const unclear of tree.unclear) {
    const id = labelKey(unclear.id);
    plans.push(planUnclear(backend, namespace, unclear, before.get(id) ?? nothing));
    before.delete(id);
  }
  for (const [id, own] of before) {
    const plan = planRemoved(backend, id, own);
    if (plan !== undefined) plans.push(plan);
  }
  return plans;
}

/** The plan for objects with edited marks that no other plan needs. */
export function planEdited(backend: string, current: CurrentObjects): LoadBalancerPlan | undefined {
  return planRemoved(backend, 'edited', current);
}

const nothing: CurrentObjects = { services: [], slices: [], endpoints: [] };

function byLoadBalancer({ services: own, slices, endpoints: older }: CurrentObjects) {
  const found = new Map<
    string,
    { [Kind in keyof CurrentObjects]: CurrentObjects[Kind][number][] }
  >();
  const of = (object: KubeObject) => {
    const id = sourceOf(object)?.loadBalancerId;
    if (id === undefined) return undefined;
    const known = found.get(id) ?? { services: [], slices: [], endpoints: [] };
    found.set(id, known);
    return known;
  };
  for (const service of own) of(service)?.services.push(service);
  for (const slice of slices) of(slice)?.slices.push(slice);
  for (const object of older) of(object)?.endpoints.push(object);
  return found;
}

function planLoadBalancer(
  origin: Origin & { readonly loadBalancer: LoadBalancerView },
  namespace: string,
  current: CurrentObjects,
  options: TranslationOptions,
): LoadBalancerPlan {
  const { backend, loadBalancer } = origin;
  const translation = translate(loadBalancer, options.memberNetworks);
  const place = { namespace, name: serviceName(backend, loadBalancer.name, loadBalancer.id) };
  const hasPorts = translation.ports.length > 0 || options.serviceType === 'Headless';
  const wanted = hasPorts ? wantedObjects(origin, place, translation, current, options) : nothing;
  const problems = [
    ...translation.problems,
    ...(hasPorts ? [] : [withoutListeners(loadBalancer)]),
    ...wanted.endpoints.flatMap((object) => tooManyToMirror(object) ?? []),
  ];
  const ours = asWritten(withoutForeign(backend, current), wanted);
  const after = contentOf(wanted);
  const loss = lossBetween(contentOf(ours, wanted.services), after);
  const partial = loss === undefined ? undefined : withoutLosses(current, wanted, loss.losing);
  return {
    id: labelKey(loadBalancer.id),
    name: loadBalancer.name,
    place,
    writes: writesOf(current, wanted),
    interim: partial === undefined ? [] : writesOf(current, partial),
    removals: removalsOf(backend, current, wanted),
    loss,
    hasService: hasPorts,
    hasContent: after.size > 0,
    problems,
    translation,
    isUpstream: true,
  };
}

function withoutListeners({ id }: LoadBalancerView): Problem {
  return {
    severity: 'note',
    reason: 'NoListeners',
    message: `load balancer ${id} has no listeners, and an ordinary Service needs a port`,
  };
}

/** Changes nothing, and reports the problem. */
function planUnclear(
  backend: string,
  namespace: string,
  { id, name, why }: UnclearLoadBalancer,
  current: CurrentObjects,
): LoadBalancerPlan {
  const message = `load balancer ${id} stays unchanged: ${why}, and the user of discovery may lack access`;
  return {
    id: labelKey(id),
    name,
    place: { namespace, name: serviceName(backend, name, id) },
    writes: [],
    interim: [],
    removals: [],
    loss: undefined,
    hasService: true,
    hasContent: contentOf(withoutForeign(backend, current)).size > 0,
    problems: [{ severity: 'refusal', reason: 'LoadBalancerUnclear', message }],
    translation: undefined,
    isUpstream: true,
  };
}

function planRemoved(
  backend: string,
  id: string,
  current: CurrentObjects,
): LoadBalancerPlan | undefined {
  const removals = removalsOf(backend, current, nothing);
  const [first] = removals;
  if (first === undefined) return undefined;
  const { metadata } = current.services[0] ?? first.actual;
  const before = contentOf(withoutForeign(backend, current));
  return {
    id,
    name: metadata?.annotations?.['causeway.dev/load-balancer-name'] ?? '',
    place: { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' },
    writes: [],
    interim: [],
    removals,
    loss: wholeLoss(before),
    hasService: false,
    hasContent: false,
    problems: [],
    translation: undefined,
    isUpstream: false,
  };
}

/**
 * Excludes ports and endpoints that others have added to a discovered Service: they are no loss of the load
 * balancer.
 */
function withoutForeign(backend: string, current: CurrentObjects): CurrentObjects {
  return {
    services: current.services.map(withoutForeignPorts),
    slices: current.slices.filter((slice) => wasOurs(backend, slice)),
    endpoints: current.endpoints.filter((object) => wasOurs(backend, object)),
  };
}

function wantedObjects(
  { backend, project, loadBalancer }: Origin & { readonly loadBalancer: LoadBalancerView },
  place: { readonly namespace: string; readonly name: string },
  translation: Translation,
  current: CurrentObjects,
  { serviceType, endpointsKind }: TranslationOptions,
): CurrentObjects {
  const { id, name, vipAddress } = loadBalancer;
  const origin = { backend, project, loadBalancer: { id, name }, address: vipAddress };
  const service = serviceObject(origin, place, translation, serviceType);
  if (endpointsKind === 'Endpoints') {
    return {
      services: [service],
      slices: [],
      endpoints: [endpointsObject(origin, place, translation.ports)],
    };
  }
  const known = new Map(
    current.slices
      .filter(({ metadata }) => metadata?.namespace === place.namespace)
      .map((slice) => [slice.metadata?.name ?? '', slice]),
  );
  const slices = sliceObjects(origin, place, translation.ports, known);
  return { services: [service], slices, endpoints: [] };
}

function writesOf(current: CurrentObjects, wanted: CurrentObjects): Write[] {
  const first = compare(services, wanted.services, current.services);
  // When a Service is recreated, the API server deletes the Endpoints of its name.
  const isMadeAnew = first.some(({ verb }) => verb !== 'update');
  return [
    ...first,
    ...compare(endpointSlices, wanted.slices, current.slices),
    ...compare(endpoints, wanted.endpoints, isMadeAnew ? [] : current.endpoints),
  ];
}

function compare<T extends KubeObject>(
  resource: Resource<T>,
  wanted: readonly T[],
  current: readonly T[],
): Write[] {
  const known = new Map(current.map((object) => [keyOf(object), object]));
  return wanted.flatMap((object): Write[] => {
    const actual = known.get(keyOf(object));
    if (actual === undefined) return [{ verb: 'create', resource, wanted: object }];
    const verb = changeOf(resource, actual, object);
    return verb === undefined ? [] : [{ verb, resource, wanted: object, actual }];
  });
}

function removalsOf(backend: string, current: CurrentObjects, wanted: CurrentObjects): Removal[] {
  const kinds: readonly (readonly [Resource, readonly KubeObject[], readonly KubeObject[]])[] = [
    // Endpoints come last: a Service that is being removed must not be without endpoints.
    [services, current.services, wanted.services],
    [endpointSlices, current.slices, wanted.slices],
    [endpoints, current.endpoints, wanted.endpoints],
  ];
  return kinds.flatMap(([resource, have, want]) => {
    const keep = new Set(want.map((object) => keyOf(object)));
    return have
      .filter(
        (object) =>
          !keep.has(keyOf(object)) &&
          isOurs(backend, object) &&
          object.metadata?.deletionTimestamp === undefined,
      )
      .map((actual) => ({ resource, actual }));
  });
}
