import type { ServiceEndpoint } from './service-endpoints.ts';

/** Selects between a Service's endpoints, beside their own state. */
export interface Placement {
  readonly nodeName: string;
  readonly zone: string | undefined;
  /** Whether any traffic may go to endpoints on other nodes. */
  readonly usesCluster: boolean;
  readonly usesLocal: boolean;
}

export interface ChosenEndpoints {
  /** For traffic that may go to any node. */
  readonly cluster: readonly ServiceEndpoint[];
  /** For traffic that stays on this node. */
  readonly local: readonly ServiceEndpoint[];
  /** Whether any node has an endpoint. If so, traffic is dropped here; otherwise it is rejected. */
  readonly hasAny: boolean;
}

const isReady = (endpoint: ServiceEndpoint) => endpoint.isReady;
/** A terminating endpoint that still answers is used if there is no other. */
const isLastResort = (endpoint: ServiceEndpoint) => endpoint.isServing && endpoint.isTerminating;

/**
 * Selects the endpoints to use: ready ones, by topology hints if every endpoint has one, else terminating
 * ones.
 */
export function chooseEndpoints(
  endpoints: readonly ServiceEndpoint[],
  placement: Placement,
): ChosenEndpoints {
  const cluster = placement.usesCluster ? clusterEndpoints(endpoints, placement) : [];
  const local = placement.usesLocal
    ? firstNonEmpty(endpoints.filter(({ isLocal }) => isLocal))
    : [];
  const hasAny = endpoints.some((endpoint) => isReady(endpoint) || isLastResort(endpoint));
  return { cluster, local, hasAny };
}

function clusterEndpoints(
  endpoints: readonly ServiceEndpoint[],
  placement: Placement,
): readonly ServiceEndpoint[] {
  const ready = endpoints.filter(isReady);
  if (ready.length === 0) return endpoints.filter(isLastResort);
  return (
    meantFor(ready, ({ nodes }) => nodes, placement.nodeName) ??
    meantFor(ready, ({ zones }) => zones, placement.zone) ??
    ready
  );
}

function firstNonEmpty(endpoints: readonly ServiceEndpoint[]): readonly ServiceEndpoint[] {
  const ready = endpoints.filter(isReady);
  return ready.length > 0 ? ready : endpoints.filter(isLastResort);
}

/** Hints apply only if every endpoint has one, and at least one is for this zone or node. */
function meantFor(
  endpoints: readonly ServiceEndpoint[],
  hints: (endpoint: ServiceEndpoint) => readonly string[],
  place: string | undefined,
): readonly ServiceEndpoint[] | undefined {
  if (place === undefined || endpoints.some((endpoint) => hints(endpoint).length === 0)) {
    return undefined;
  }
  const near = endpoints.filter((endpoint) => hints(endpoint).includes(place));
  return near.length > 0 ? near : undefined;
}
