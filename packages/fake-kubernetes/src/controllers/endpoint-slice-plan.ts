import type { Endpoint, EndpointSlice } from '../resources/endpoint-slice.ts';
import { canonicalText, jsonEqual } from '../schema/json.ts';
import type { ServedPort } from './endpoint-model.ts';

export interface EndpointGroup {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: readonly ServedPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface SlicePlan {
  readonly create: readonly EndpointGroup[];
  readonly update: readonly {
    readonly slice: EndpointSlice;
    readonly endpoints: readonly Endpoint[];
  }[];
  readonly remove: readonly EndpointSlice[];
}

const mostInSlice = 100;

const groupKey = (addressType: string, ports: unknown) => `${addressType} ${canonicalText(ports)}`;
const endpointKey = ({ addresses, targetRef }: Endpoint) =>
  `${targetRef?.uid ?? ''} ${addresses.join()}`;

/**
 * Distributes endpoints over slices of at most 100 and moves as few as it can. An endpoint stays in its
 * slice. New endpoints fill slices with free space before new slices are created.
 */
export function planSlices(
  groups: readonly EndpointGroup[],
  existing: readonly EndpointSlice[],
): SlicePlan {
  const create: EndpointGroup[] = [];
  const update: { slice: EndpointSlice; endpoints: readonly Endpoint[] }[] = [];
  const remove: EndpointSlice[] = [];
  const byKey = Map.groupBy(existing, ({ addressType, ports }) =>
    groupKey(addressType, ports ?? []),
  );
  for (const group of groups) {
    const key = groupKey(group.addressType, group.ports);
    const slices = byKey.get(key) ?? [];
    byKey.delete(key);
    const spread = spreadGroup(group, slices);
    create.push(...spread.create);
    update.push(...spread.update);
    remove.push(...spread.remove);
  }
  remove.push(...[...byKey.values()].flat());
  return { create, update, remove };
}

function spreadGroup(group: EndpointGroup, slices: readonly EndpointSlice[]): SlicePlan {
  const waiting = new Map(group.endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const kept = slices.map((slice) => ({
    slice,
    endpoints: (slice.endpoints ?? []).flatMap((endpoint): Endpoint[] => {
      const key = endpointKey(endpoint);
      const now = waiting.get(key);
      waiting.delete(key);
      return now === undefined ? [] : [now];
    }),
  }));
  const rest = [...waiting.values()];
  // Fills slices that change anyway before other slices, the fullest ones first.
  const hasChanged = ({ slice, endpoints }: (typeof kept)[number]) =>
    !jsonEqual(endpoints, slice.endpoints ?? []);
  const order = [...kept].sort(
    (a, b) =>
      Number(hasChanged(b)) - Number(hasChanged(a)) || b.endpoints.length - a.endpoints.length,
  );
  for (const one of order)
    one.endpoints.push(...rest.splice(0, mostInSlice - one.endpoints.length));
  const create: EndpointGroup[] = [];
  while (rest.length > 0) create.push({ ...group, endpoints: rest.splice(0, mostInSlice) });
  const needsPlaceholder = group.endpoints.length === 0;
  if (needsPlaceholder && kept.length === 0) create.push({ ...group, endpoints: [] });
  const empty = kept.filter(({ endpoints }) => endpoints.length === 0);
  const remove = empty.slice(needsPlaceholder ? 1 : 0).map(({ slice }) => slice);
  const update = kept.filter((one) => !remove.includes(one.slice) && hasChanged(one));
  return { create, update, remove };
}
