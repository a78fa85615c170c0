import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { HorizontalPodAutoscaler } from '@causeway/kubernetes/objects/workload-objects';
import {
  annotationsOf,
  hasIdledAt,
  parseTargets,
  sameTarget,
  unidleTargets,
  type UnidleTarget,
} from './annotations.ts';

/** One thing to be scaled to 0, as it stands now. */
export interface TargetState {
  readonly kind: string;
  readonly name: string;
  readonly group: string;
  readonly currentReplicas: number;
  /** The value of the annotation `previous-scale` on it. */
  readonly previousScale: string | undefined;
}

/** Why a Service must not sleep, whatever runs behind it. */
export function refusalOf(service: Service): string | undefined {
  const { spec } = service;
  if (service.metadata?.deletionTimestamp !== undefined) return 'it is being deleted';
  if (spec?.type === 'ExternalName') return 'it is only a name for something outside';
  const hasAddress = spec?.clusterIP !== undefined && !['', 'None'].includes(spec.clusterIP);
  if (!hasAddress) {
    return 'it is headless: clients go to the pods themselves, so nobody would notice them and wake it';
  }
  if ((spec?.ports ?? []).every(({ protocol }) => protocol === 'SCTP')) {
    return 'it has no TCP or UDP port that connections could be noticed on';
  }
  return undefined;
}

/**
 * What to write on the Service: each target with the replicas to come back with. A Service that
 * sleeps already keeps what it remembers, or a second `idle` would remember 0.
 */
export function planTargets(
  service: Service,
  endpoints: Endpoints | undefined,
  states: readonly TargetState[],
): UnidleTarget[] {
  const remembered = [service, endpoints].flatMap((object) => {
    if (!hasIdledAt(object)) return [];
    const parsed = parseTargets(annotationsOf(object)[unidleTargets]);
    return parsed.ok ? parsed.targets : [];
  });
  const targets = states.map((state) => {
    const { kind, name, group } = state;
    return { kind, name, group, replicas: replicasToRemember(state, remembered) };
  });
  const gone = remembered.filter(
    (old, index) =>
      !targets.some((target) => sameTarget(target, old)) &&
      remembered.findIndex((other) => sameTarget(other, old)) === index,
  );
  return [...targets, ...gone];
}

function replicasToRemember(state: TargetState, remembered: readonly UnidleTarget[]): number {
  if (state.currentReplicas > 0) return state.currentReplicas;
  const known = remembered.find((target) => sameTarget(target, state))?.replicas ?? 0;
  if (known > 0) return known;
  const previous = Number(state.previousScale);
  return Number.isInteger(previous) && previous > 0 ? previous : 1;
}

/**
 * While a target has no replicas, Kubernetes leaves its autoscaler alone, unless the autoscaler may go
 * to 0 itself: that one is given a lower bound of 1 for the time of the sleep.
 */
export function sleepingMinReplicas(autoscaler: HorizontalPodAutoscaler): number {
  return Math.max(autoscaler.spec?.minReplicas ?? 1, 1);
}

/**
 * The lower bound to put back. Undefined if there is nothing to put back: nothing was remembered, or
 * someone has set another bound meanwhile, and that was meant.
 */
export function minReplicasToRestore(
  remembered: string | undefined,
  current: number | undefined,
): number | undefined {
  if (remembered === undefined) return undefined;
  const before = Number(remembered);
  if (!Number.isInteger(before) || before < 0) return undefined;
  const whileAsleep = Math.max(before, 1);
  return (current ?? 1) === whileAsleep && before !== whileAsleep ? before : undefined;
}
