import { isPodFinished, isPodReady, type Pod } from '../resources/pod/pod-type.ts';

export interface ReplicaCounts {
  readonly replicas: number;
  readonly fullyLabeledReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly terminatingReplicas: number;
}

export interface ReplicaPlan {
  readonly create: number;
  readonly remove: readonly Pod[];
  readonly counts: ReplicaCounts;
  /** Milliseconds until the next ready pod becomes available. */
  readonly nextAvailableMs: number | undefined;
}

export interface ReplicaDemand {
  readonly replicas: number;
  readonly templateLabels: Readonly<Record<string, string>>;
  readonly minReadySeconds: number;
}

/** Decides which pods to create or delete, and the counts of existing pods. */
export function planReplicas(
  demand: ReplicaDemand,
  pods: readonly Pod[],
  wallTime: number,
): ReplicaPlan {
  const active = pods.filter((pod) => !isPodFinished(pod) && !isTerminating(pod));
  const missing = demand.replicas - active.length;
  const waits = active
    .filter(isPodReady)
    .map((pod) => availableInMs(pod, demand.minReadySeconds, wallTime));
  const counted = {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => hasLabels(pod, demand.templateLabels)).length,
    readyReplicas: waits.length,
    availableReplicas: waits.filter((ms) => ms <= 0).length,
    terminatingReplicas: pods.filter((pod) => !isPodFinished(pod) && isTerminating(pod)).length,
  };
  const later = waits.filter((ms) => ms > 0).sort((a, b) => a - b);
  return {
    create: Math.max(missing, 0),
    remove: missing < 0 ? [...active].sort(leastUseful).slice(0, -missing) : [],
    counts: counted,
    nextAvailableMs: later[0],
  };
}

const isTerminating = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

function hasLabels({ metadata }: Pod, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

/** Milliseconds until a ready pod counts as available; 0 or less if it already does. */
export function availableInMs(pod: Pod, minReadySeconds: number, wallTime: number): number {
  if (minReadySeconds === 0) return 0;
  const ready = (pod.status?.conditions ?? []).find(({ type }) => type === 'Ready');
  const since = Date.parse(ready?.lastTransitionTime ?? '');
  return Number.isNaN(since) ? 0 : since + minReadySeconds * 1000 - wallTime;
}

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** Sorts the least useful pods first: not scheduled, not running, not ready, then the youngest. */
function leastUseful(left: Pod, right: Pod): number {
  const scheduled = (pod: Pod) => ((pod.spec.nodeName ?? '') === '' ? 0 : 1);
  const phase = (pod: Pod) => phaseRank[pod.status?.phase ?? 'Pending'] ?? 0;
  const ready = (pod: Pod) => (isPodReady(pod) ? 1 : 0);
  return (
    scheduled(left) - scheduled(right) ||
    phase(left) - phase(right) ||
    ready(left) - ready(right) ||
    Date.parse(right.metadata.creationTimestamp) - Date.parse(left.metadata.creationTimestamp) ||
    (left.metadata.name < right.metadata.name ? 1 : -1)
  );
}
