import { parseEndpointKey, type EndpointKey } from './endpoint.ts';
import type { GatewayState, Kept } from '../agent/store/state.ts';
import type { Complaint } from './rejection.ts';
import { formatEndpointId, type EndpointIdRecord } from './records.ts';

/** An endpoint that is still served as an older push had it. Its address is not free. */
export interface OlderRecord extends EndpointIdRecord {
  readonly generation: number;
  readonly reason: string;
}

/** A frontend that is still served because the guard withholds its removal. */
export interface WithheldRecord extends OlderRecord {
  /** `namespace/name` of the Service that it was served for, where that is known. */
  readonly service?: string | undefined;
}

/** Something that was wrong with a push, grouped by the endpoint that it belongs to. */
export interface EndpointErrors {
  readonly endpoint: EndpointIdRecord | null;
  readonly errors: readonly { readonly record: number; readonly message: string }[];
}

/** The answer to a push that was applied. */
export interface Acknowledgement {
  readonly generation: number;
  /** Whether anything had to be written to the kernel. */
  readonly committed: boolean;
  readonly older: readonly OlderRecord[];
  /**
   * The removals that are withheld until the controller confirms them, one by one. Each is listed under
   * `older`, too. Missing where the agent is of a version that rejects such an update.
   */
  readonly withheld?: readonly WithheldRecord[];
  readonly errors: readonly EndpointErrors[];
}

export function acknowledge(
  state: GatewayState,
  complaints: readonly Complaint[],
  committed: boolean,
): Acknowledgement {
  return {
    generation: state.generation,
    committed,
    older: listOlder(state),
    withheld: listWithheld(state),
    errors: groupByEndpoint(complaints),
  };
}

export function listOlder(state: GatewayState): OlderRecord[] {
  return sortedKept(state).map(formatKept);
}

export function listWithheld(state: GatewayState): WithheldRecord[] {
  return sortedKept(state)
    .filter(([, { isWithheld }]) => isWithheld === true)
    .map(([key, kept]) => {
      const service = state.endpoints.get(key)?.service;
      return { ...formatKept([key, kept]), ...(service === undefined ? {} : { service }) };
    });
}

function sortedKept({ kept }: GatewayState): [EndpointKey, Kept][] {
  return [...kept].sort(([left], [right]) => (left < right ? -1 : 1));
}

function formatKept([key, { generation, reason }]: [EndpointKey, Kept]): OlderRecord {
  return { ...formatEndpointId(parseEndpointKey(key)), generation, reason };
}

export function groupByEndpoint(complaints: readonly Complaint[]): EndpointErrors[] {
  const groups = new Map<string, { endpoint: EndpointIdRecord | null; errors: ErrorLine[] }>();
  for (const { endpoint, record, message } of complaints) {
    const id = endpoint === undefined ? null : formatEndpointId(endpoint);
    const key = JSON.stringify(id);
    const group = groups.get(key) ?? { endpoint: id, errors: [] };
    group.errors.push({ record, message });
    groups.set(key, group);
  }
  return [...groups.values()];
}

interface ErrorLine {
  readonly record: number;
  readonly message: string;
}
