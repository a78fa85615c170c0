import { parseEndpointKey, type EndpointKey } from '../../protocol/endpoint.ts';
import type {
  Acknowledgement,
  EndpointErrors,
  OlderRecord,
  WithheldRecord,
} from '../../protocol/acknowledgement.ts';
import { formatEndpointId, type EndpointIdRecord } from '../../protocol/records.ts';
import type { Rejection } from '../../protocol/rejection.ts';
import type { GatewayState, Kept } from '../store/state.ts';

export function acknowledge(
  state: GatewayState,
  complaints: readonly Rejection[],
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

export function groupByEndpoint(complaints: readonly Rejection[]): EndpointErrors[] {
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
