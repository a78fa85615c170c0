import { protocols } from '@causeway/base/address/port';
import type {
  Endpoints,
  EndpointSubset,
  Service,
  ServicePort,
} from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { CurrentObjects } from './content.ts';
import { subsetsMark } from './content-mark.ts';
import { isHeadless, listenersOf, withListeners, withoutForeignPorts } from './service-object.ts';

/**
 * The part of a lossy plan that can be applied at once: ports that lose nothing get their desired state, the
 * others stay. Undefined if the load balancer is moved or recreated, which can't be done in part.
 */
export function withoutLosses(
  current: CurrentObjects,
  wanted: CurrentObjects,
  losing: ReadonlySet<string>,
): CurrentObjects | undefined {
  const [service] = wanted.services;
  const [actual, ...others] = current.services;
  if (service === undefined || actual === undefined || others.length > 0) return undefined;
  if (keyOf(service) !== keyOf(actual) || isHeadless(service) !== isHeadless(actual)) {
    return undefined;
  }
  const isOtherKind = wanted.endpoints.length > 0 ? current.slices : current.endpoints;
  const partial = isOtherKind.length > 0 ? undefined : mergedService(service, actual, losing);
  if (partial === undefined) return undefined;
  const names = (of: Service) =>
    new Set(portsOf(of).flatMap((port) => (losing.has(portKey(port)) ? [portId(port)] : [])));
  const going = names(service);
  return {
    services: [partial],
    slices: wanted.slices.filter(({ ports }) => !ports?.some((port) => going.has(portId(port)))),
    endpoints: wanted.endpoints.map((one) =>
      mergedEndpoints(one, current.endpoints[0], going, names(actual)),
    ),
  };
}

/** Undefined if two ports would have one name, or if the Service does not list its ports. */
function mergedService(
  service: Service,
  actual: Service,
  losing: ReadonlySet<string>,
): Service | undefined {
  const kept = portsOf(withoutForeignPorts(actual)).filter((port) => losing.has(portKey(port)));
  const changed = portsOf(service).filter((port) => !losing.has(portKey(port)));
  const ports = [...changed, ...kept].sort(
    (left, right) =>
      left.port - right.port ||
      protocols.indexOf(left.protocol ?? 'TCP') - protocols.indexOf(right.protocol ?? 'TCP'),
  );
  const known = { ...listenersOf(actual), ...listenersOf(service) };
  const names = new Set(ports.map(({ name = '' }) => name));
  if (names.size < ports.length || [...names].some((name) => !Object.hasOwn(known, name))) {
    return undefined;
  }
  const { ports: _, ...spec } = service.spec ?? {};
  const merged = { ...service, spec: { ...spec, ...(ports.length === 0 ? {} : { ports }) } };
  return withListeners(
    merged,
    ports.map(({ name = '' }) => [name, known[name]]),
  );
}

function mergedEndpoints(
  wanted: Endpoints,
  actual: Endpoints | undefined,
  going: ReadonlySet<string>,
  kept: ReadonlySet<string>,
): Endpoints {
  const isOf = (names: ReadonlySet<string>, { ports = [] }: EndpointSubset) =>
    ports.some((port) => names.has(portId(port)));
  const subsets = [
    ...(wanted.subsets ?? []).filter((subset) => !isOf(going, subset)),
    ...(actual?.subsets ?? []).filter((subset) => isOf(kept, subset)),
  ];
  const { subsets: _, metadata, ...rest } = wanted;
  const annotations = { ...metadata?.annotations, ...subsetsMark(subsets) };
  const merged = { ...rest, metadata: { ...metadata, annotations } };
  return subsets.length === 0 ? merged : { ...merged, subsets };
}

function portsOf({ spec }: Service): readonly ServicePort[] {
  return spec?.ports ?? [];
}

function portKey({ protocol = 'TCP', port }: ServicePort): string {
  return `${protocol}/${port}`;
}

function portId({ protocol = 'TCP', name = '' }: { protocol?: string; name?: string }): string {
  return `${protocol} ${name}`;
}
