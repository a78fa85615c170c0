import { scaledCount } from '../resources/workload.ts';
import type { Deployment, ReplicaSet } from '../resources/workload-type.ts';

export interface Rollout {
  readonly deployment: Deployment;
  /** The ReplicaSet of the current template. */
  readonly current: ReplicaSet;
  /** ReplicaSets of earlier templates, oldest first. */
  readonly earlier: readonly ReplicaSet[];
  /** Whether pods of earlier ReplicaSets still run, including terminating pods. */
  readonly hasEarlierPods: boolean;
}

/** New sizes of ReplicaSets by name. ReplicaSets without a change are left out. */
export type Sizes = ReadonlyMap<string, number>;

const wanted = ({ spec }: ReplicaSet) => spec.replicas;
const available = ({ status }: ReplicaSet) => status?.availableReplicas ?? 0;
const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number) =>
  sets.reduce((total, set) => total + count(set), 0);

/** The maximum number of missing pods and of additional pods during a rollout. */
export function rolloutMargins({ spec }: Deployment): { surge: number; unavailable: number } {
  if (spec.strategy.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const { maxSurge, maxUnavailable } = spec.strategy.rollingUpdate ?? {};
  const surge = scaledCount(maxSurge, spec.replicas, 'up');
  const unavailable = scaledCount(maxUnavailable, spec.replicas, 'down');
  // If both are zero, the rollout can't proceed.
  const isStuck = surge === 0 && unavailable === 0;
  return { surge, unavailable: Math.min(isStuck ? 1 : unavailable, spec.replicas) };
}

/** The next step of a rollout. The controller calls it again after every change until no step is left. */
export function planRollout(rollout: Rollout): Sizes {
  const { deployment, current, earlier } = rollout;
  if (deployment.spec.paused === true) return planPaused(deployment, [...earlier, current]);
  if (deployment.spec.strategy.type === 'Recreate') return planRecreate(rollout);
  const margins = rolloutMargins(deployment);
  const grown = growCurrent(deployment, current, earlier, margins.surge);
  if (grown !== undefined) return new Map([[current.metadata.name, grown]]);
  return shrinkEarlier(deployment, current, earlier, margins.unavailable);
}

/** During a paused rollout, only the newest active ReplicaSet is resized. The others keep their sizes. */
export function planPaused({ spec }: Deployment, sets: readonly ReplicaSet[]): Sizes {
  const active = sets.filter((set) => wanted(set) > 0);
  const target = active.at(-1) ?? sets.at(-1);
  if (target === undefined) return new Map();
  const others = sum(active, wanted) - (active.includes(target) ? wanted(target) : 0);
  const size = Math.max(spec.replicas - others, 0);
  return size === wanted(target) ? new Map() : new Map([[target.metadata.name, size]]);
}

function planRecreate({ deployment, current, earlier, hasEarlierPods }: Rollout): Sizes {
  const active = earlier.filter((set) => wanted(set) > 0);
  if (active.length > 0) return new Map(active.map((set) => [set.metadata.name, 0]));
  const { replicas } = deployment.spec;
  if (hasEarlierPods || wanted(current) === replicas) return new Map();
  return new Map([[current.metadata.name, replicas]]);
}

function growCurrent(
  { spec }: Deployment,
  current: ReplicaSet,
  earlier: readonly ReplicaSet[],
  surge: number,
): number | undefined {
  const size = wanted(current);
  if (size === spec.replicas) return undefined;
  if (size > spec.replicas) return spec.replicas;
  const room = spec.replicas + surge - sum([...earlier, current], wanted);
  return room > 0 ? size + Math.min(room, spec.replicas - size) : undefined;
}

function shrinkEarlier(
  { spec }: Deployment,
  current: ReplicaSet,
  earlier: readonly ReplicaSet[],
  unavailable: number,
): Sizes {
  const all = [...earlier, current];
  const fewest = spec.replicas - unavailable;
  const starting = wanted(current) - available(current);
  let excess = sum(all, wanted) - fewest - starting;
  const sizes = new Map(earlier.map((set) => [set.metadata.name, wanted(set)]));
  const take = (set: ReplicaSet, count: number) => {
    const size = sizes.get(set.metadata.name) ?? 0;
    const taken = Math.max(Math.min(count, size), 0);
    sizes.set(set.metadata.name, size - taken);
    return taken;
  };
  // Unavailable pods are removed first, because they don't serve traffic.
  for (const set of earlier) excess -= take(set, Math.min(excess, wanted(set) - available(set)));
  let spare = Math.min(sum(all, available) - fewest, Math.max(excess, 0));
  for (const set of earlier) spare -= take(set, spare);
  return new Map(
    earlier
      .filter((set) => sizes.get(set.metadata.name) !== wanted(set))
      .map((set) => [set.metadata.name, sizes.get(set.metadata.name) ?? 0]),
  );
}
