import { parseFrontendKey, type FrontendKey } from '../../protocol/frontend.ts';
import type {
  Acknowledgement,
  FrontendErrors,
  OlderRecord,
  WithheldRecord,
} from '../../protocol/acknowledgement.ts';
import { formatFrontendId, type FrontendIdRecord } from '../../protocol/records.ts';
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
    errors: groupByFrontend(complaints),
  };
}

export function listOlder(state: GatewayState): OlderRecord[] {
  return sortedKept(state).map(formatKept);
}

export function listWithheld(state: GatewayState): WithheldRecord[] {
  return sortedKept(state)
    .filter(([, { isWithheld }]) => isWithheld === true)
    .map(([key, kept]) => {
      const service = state.frontends.get(key)?.service;
      return { ...formatKept([key, kept]), ...(service === undefined ? {} : { service }) };
    });
}

function sortedKept({ kept }: GatewayState): [FrontendKey, Kept][] {
  return [...kept].sort(([left], [right]) => (left < right ? -1 : 1));
}

function formatKept([key, { generation, reason }]: [FrontendKey, Kept]): OlderRecord {
  return { ...formatFrontendId(parseFrontendKey(key)), generation, reason };
}

export function groupByFrontend(complaints: readonly Rejection[]): FrontendErrors[] {
  const groups = new Map<string, { frontend: FrontendIdRecord | null; errors: ErrorLine[] }>();
  for (const { frontend, record, message } of complaints) {
    const id = frontend === undefined ? null : formatFrontendId(frontend);
    const key = JSON.stringify(id);
    const group = groups.get(key) ?? { frontend: id, errors: [] };
    group.errors.push({ record, message });
    groups.set(key, group);
  }
  return [...groups.values()];
}

interface ErrorLine {
  readonly record: number;
  readonly message: string;
}
