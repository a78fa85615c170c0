import { isPodFinished, isPodReady, type Pod } from '../resources/pod/pod-type.ts';
import type { StatefulSet } from '../resources/workload-type.ts';
import { availableInMs } from './replica-plan.ts';

export const revisionLabel = 'controller-revision-hash';

/** The next step for the pods of a StatefulSet. Single steps preserve the order. */
export type StatefulSetStep =
  | { readonly kind: 'create'; readonly ordinal: number; readonly revision: string }
  | { readonly kind: 'remove'; readonly pod: Pod }
  | { readonly kind: 'none' };

export interface StatefulSetFacts {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  /** The revision of pods below the partition. */
  readonly current: string;
  readonly update: string;
  readonly wallTime: number;
}

export function ordinalOf({ metadata }: Pod): number {
  return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);
}

const isTerminating = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

/** Whether the pod has been ready for `minReadySeconds`. */
export function isAvailable({ set, wallTime }: StatefulSetFacts, pod: Pod): boolean {
  const minReadySeconds = set.spec.minReadySeconds ?? 0;
  return isPodReady(pod) && availableInMs(pod, minReadySeconds, wallTime) <= 0;
}

/**
 * Pods start in order, each after its predecessor is available, and stop in reverse order. With `Parallel`,
 * the order applies to updates only. The controller calls this again after each step.
 */
export function nextStatefulSetStep(facts: StatefulSetFacts): StatefulSetStep {
  const { set, pods } = facts;
  if (set.metadata.deletionTimestamp !== undefined) return { kind: 'none' };
  const start = set.spec.ordinals?.start ?? 0;
  const end = start + set.spec.replicas;
  const inOrder = set.spec.podManagementPolicy !== 'Parallel';
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  for (let ordinal = start; ordinal < end; ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined)
      return { kind: 'create', ordinal, revision: revisionFor(facts, ordinal) };
    if (isPodFinished(pod) && !isTerminating(pod)) return { kind: 'remove', pod };
    if (inOrder && (isTerminating(pod) || !isAvailable(facts, pod))) return { kind: 'none' };
  }
  const surplus = pods
    .filter((pod) => ordinalOf(pod) >= end || ordinalOf(pod) < start)
    .sort((left, right) => ordinalOf(right) - ordinalOf(left));
  const leaving = surplus.find((pod) => !inOrder || !isTerminating(pod) || pod === surplus[0]);
  if (leaving !== undefined) {
    if (!isTerminating(leaving)) return { kind: 'remove', pod: leaving };
    const other = inOrder ? undefined : surplus.find((pod) => !isTerminating(pod));
    return other === undefined ? { kind: 'none' } : { kind: 'remove', pod: other };
  }
  return nextUpdate(facts, start, end, byOrdinal);
}

function revisionFor({ set, current, update }: StatefulSetFacts, ordinal: number): string {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  const partition = rollingUpdate?.partition ?? 0;
  const keepsCurrent = type === 'RollingUpdate' && ordinal < partition;
  return keepsCurrent ? current : update;
}

/** Replaces pods of earlier revisions one at a time, highest ordinal first. */
function nextUpdate(
  facts: StatefulSetFacts,
  start: number,
  end: number,
  byOrdinal: ReadonlyMap<number, Pod>,
): StatefulSetStep {
  const { type, rollingUpdate } = facts.set.spec.updateStrategy;
  if (type !== 'RollingUpdate') return { kind: 'none' };
  const lowest = Math.max(start, rollingUpdate?.partition ?? 0);
  for (let ordinal = end - 1; ordinal >= lowest; ordinal -= 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) return { kind: 'none' };
    if (pod.metadata.labels?.[revisionLabel] !== facts.update && !isTerminating(pod)) {
      return { kind: 'remove', pod };
    }
    if (isTerminating(pod) || !isAvailable(facts, pod)) return { kind: 'none' };
  }
  return { kind: 'none' };
}
