import type { Condition } from '../resources/workload-type.ts';

/** Sets one condition. Its transition time changes only with its status. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  time: string,
): Condition[] {
  const list = conditions ?? [];
  const had = list.find(({ type }) => type === condition.type);
  const isSame = had?.status === condition.status;
  const next: Condition = {
    ...condition,
    lastTransitionTime: isSame ? (had?.lastTransitionTime ?? time) : time,
  };
  return had === undefined ? [...list, next] : list.map((one) => (one === had ? next : one));
}

export function withoutCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
