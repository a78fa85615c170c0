import { parseEndpointKey } from '../model/endpoint.ts';
import type { GatewayState } from '../model/state.ts';
import type { Complaint } from '../wire/complaint.ts';
import { formatEndpointId, type EndpointIdRecord } from '../wire/records.ts';

/** An endpoint that is still served as an older push had it. Its address is not free. */
export interface OlderRecord extends EndpointIdRecord {
  readonly generation: number;
  readonly reason: string;
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
    errors: groupByEndpoint(complaints),
  };
}

export function listOlder(state: GatewayState): OlderRecord[] {
  return [...state.kept]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, kept]) => ({
      ...formatEndpointId(parseEndpointKey(key)),
      generation: kept.generation,
      reason: kept.reason,
    }));
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
