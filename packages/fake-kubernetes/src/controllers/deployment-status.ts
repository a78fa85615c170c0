import { isPodFinished } from '../resources/pod/pod-type.ts';
import type { Pod } from '../resources/pod/pod-type.ts';
import type { Condition, Deployment, ReplicaSet } from '../resources/workload-type.ts';
import { withoutCondition } from './condition.ts';
import { rolloutMargins } from './deployment-plan.ts';

export interface DeploymentFacts {
  readonly deployment: Deployment;
  readonly current: ReplicaSet | undefined;
  readonly sets: readonly ReplicaSet[];
  readonly pods: readonly Pod[];
  /** The progress of this reconcile, if any. */
  readonly progress: { readonly reason: string; readonly message: string } | undefined;
}

type Status = NonNullable<Deployment['status']>;

const total = (
  sets: readonly ReplicaSet[],
  name: 'availableReplicas' | 'readyReplicas' | 'replicas',
) => sets.reduce((sum, { status }) => sum + (status?.[name] ?? 0), 0);

/** The status of a Deployment. Zero counts are left out, as in the real API. */
export function deploymentStatus(facts: DeploymentFacts, wallTime: number, time: string): Status {
  const { deployment, current, sets, pods } = facts;
  const replicas = total(sets, 'replicas');
  const readyReplicas = total(sets, 'readyReplicas');
  const availableReplicas = total(sets, 'availableReplicas');
  const updatedReplicas = current?.status?.replicas ?? 0;
  const desired = sets.reduce((sum, { spec }) => sum + spec.replicas, 0);
  const unavailableReplicas = Math.max(desired - availableReplicas, 0);
  const terminatingReplicas = pods.filter(
    (pod) => pod.metadata.deletionTimestamp !== undefined && !isPodFinished(pod),
  ).length;
  const counts = {
    replicas,
    readyReplicas,
    availableReplicas,
    updatedReplicas,
    unavailableReplicas,
  };
  const nonZero = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...nonZero,
    terminatingReplicas,
    conditions: conditions(facts, { ...counts }, wallTime, time),
  };
}

interface Counts {
  readonly replicas: number;
  readonly availableReplicas: number;
  readonly updatedReplicas: number;
}

function conditions(
  facts: DeploymentFacts,
  counts: Counts,
  wallTime: number,
  time: string,
): Condition[] {
  const { deployment } = facts;
  const { unavailable } = rolloutMargins(deployment);
  const isAvailable = counts.availableReplicas >= deployment.spec.replicas - unavailable;
  const had = deployment.status?.conditions;
  const available: Condition = isAvailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
  const progressing = progressCondition(facts, counts, wallTime);
  const changes: readonly (Condition | undefined)[] =
    facts.progress === undefined ? [available, progressing] : [progressing, available];
  const list = changes
    .filter((condition) => condition !== undefined)
    .reduce((all, condition) => dated(all, condition, time), had ?? []);
  const failure = facts.sets
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure');
  return failure === undefined
    ? withoutCondition(list, 'ReplicaFailure')
    : dated(list, failure, time);
}

/** A changed condition moves to the end of the list and gets a new update time. */
function dated(list: readonly Condition[], condition: Condition, time: string): Condition[] {
  const had = list.find(({ type }) => type === condition.type);
  if (had === condition) return [...list];
  const isSame = had?.status === condition.status && had.reason === condition.reason;
  const isNew = condition.reason === 'ReplicaSetUpdated';
  if (isSame && !isNew) return [...list];
  const lastTransitionTime =
    had?.status === condition.status ? (had.lastTransitionTime ?? time) : time;
  return [
    ...withoutCondition(list, condition.type),
    { ...condition, lastTransitionTime, lastUpdateTime: time },
  ];
}

function isComplete({ deployment }: DeploymentFacts, counts: Counts): boolean {
  const { replicas } = deployment.spec;
  return (
    counts.updatedReplicas === replicas &&
    counts.replicas === replicas &&
    counts.availableReplicas === replicas
  );
}

function progressCondition(
  facts: DeploymentFacts,
  counts: Counts,
  wallTime: number,
): Condition | undefined {
  const { deployment, current, progress } = facts;
  const had = deployment.status?.conditions?.find(({ type }) => type === 'Progressing');
  const name = current?.metadata.name ?? deployment.metadata.name;
  const quoted = `ReplicaSet ${JSON.stringify(name)}`;
  if (isComplete(facts, counts) && (had !== undefined || progress !== undefined)) {
    const message = `${quoted} has successfully progressed.`;
    return { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message };
  }
  if (progress !== undefined) return { type: 'Progressing', status: 'True', ...progress };
  if (had === undefined || had.reason === 'NewReplicaSetAvailable') {
    if (hasMoved(deployment, counts)) return progressed(quoted);
    return had;
  }
  if (hasMoved(deployment, counts)) return progressed(quoted);
  const deadline = (deployment.spec.progressDeadlineSeconds ?? 600) * 1000;
  const since = Date.parse(had.lastUpdateTime ?? '');
  if (deployment.spec.paused === true || Number.isNaN(since) || wallTime - since < deadline)
    return had;
  const message = `${quoted} has timed out progressing.`;
  return { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message };
}

function progressed(quoted: string): Condition {
  const message = `${quoted} is progressing.`;
  return { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message };
}

function hasMoved({ status }: Deployment, counts: Counts): boolean {
  const old = (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    counts.updatedReplicas > (status?.updatedReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < old ||
    counts.availableReplicas > (status?.availableReplicas ?? 0)
  );
}
