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

/** The current state of one object to scale to 0. */
export interface TargetState {
  readonly kind: string;
  readonly name: string;
  readonly group: string;
  readonly currentReplicas: number;
  /** The value of the annotation `previous-scale` of the object. */
  readonly previousScale: string | undefined;
}

/** Why a Service must not be idled, regardless of its workload. */
export function refusalOf(service: Service): string | undefined {
  const { spec } = service;
  if (service.metadata?.deletionTimestamp !== undefined) return 'the Service is being deleted';
  if (spec?.type === 'ExternalName')
    return 'the Service is only a name for an external host (ExternalName)';
  const hasAddress = spec?.clusterIP !== undefined && !['', 'None'].includes(spec.clusterIP);
  if (!hasAddress) {
    return "the Service is headless: clients connect straight to the pods, so connections can't wake the Service";
  }
  if ((spec?.ports ?? []).every(({ protocol }) => protocol === 'SCTP')) {
    return 'the Service has no TCP or UDP port on which connections could wake it';
  }
  return undefined;
}

/**
 * Plans the annotation of the Service: each target with the replicas to restore. An idle Service keeps its
 * stored values, or a second `idle` would store 0.
 */
export function planTargets(
  service: Service,
  endpoints: Endpoints | undefined,
  states: readonly TargetState[],
): UnidleTarget[] {
  const stored = [service, endpoints].flatMap((object) => {
    if (!hasIdledAt(object)) return [];
    const parsed = parseTargets(annotationsOf(object)[unidleTargets]);
    return parsed.ok ? parsed.targets : [];
  });
  const targets = states.map((state) => {
    const { kind, name, group } = state;
    return { kind, name, group, replicas: replicasToStore(state, stored) };
  });
  const gone = stored.filter(
    (old, index) =>
      !targets.some((target) => sameTarget(target, old)) &&
      stored.findIndex((other) => sameTarget(other, old)) === index,
  );
  return [...targets, ...gone];
}

function replicasToStore(state: TargetState, stored: readonly UnidleTarget[]): number {
  if (state.currentReplicas > 0) return state.currentReplicas;
  const known = stored.find((target) => sameTarget(target, state))?.replicas ?? 0;
  if (known > 0) return known;
  const previous = Number(state.previousScale);
  return Number.isInteger(previous) && previous > 0 ? previous : 1;
}

/**
 * While a target has no replicas, Kubernetes ignores its autoscaler, unless the autoscaler may scale to 0.
 * Such an autoscaler gets a lower bound of 1 during the idle period.
 */
export function sleepingMinReplicas(autoscaler: HorizontalPodAutoscaler): number {
  return Math.max(autoscaler.spec?.minReplicas ?? 1, 1);
}

/**
 * The lower bound to restore. Undefined if no bound was stored, or if a user has set another bound in the
 * meantime: that one is intended.
 */
export function minReplicasToRestore(
  stored: string | undefined,
  current: number | undefined,
): number | undefined {
  if (stored === undefined) return undefined;
  const before = Number(stored);
  if (!Number.isInteger(before) || before < 0) return undefined;
  const whileAsleep = Math.max(before, 1);
  return (current ?? 1) === whileAsleep && before !== whileAsleep ? before : undefined;
}
