import { done, retryAfter, type Outcome } from '@causeway/base/work/controller';
import type { GroupResource } from '../resource-definition.ts';
import { selects, type LabelSelector } from '../resources/label-selector.ts';
import { isPodFinished, type Pod } from '../resources/pod/pod-type.ts';
import type { Condition, ReplicaSet, ReplicationController } from '../resources/workload-type.ts';
import { jsonEqual } from '../schema/json.ts';
import { ApiError } from '../status.ts';
import type { Change } from '../store.ts';
import { withCondition, withoutCondition } from './condition.ts';
import { ownPods, type WorkloadSetting } from './controlled-objects.ts';
import { EventRecorder } from './event-recorder.ts';
import { createPod } from './pod-factory.ts';
import { planReplicas, type ReplicaPlan } from './replica-plan.ts';
import {
  controllerKey,
  controllerReference,
  keyOf,
  ownKey,
  splitKey,
  type StoreController,
} from './store-controller.ts';
import { now } from './timestamp.ts';

type Replicated = ReplicaSet | ReplicationController;

const retryDelayMs = 1_000;

function selectorOf(owner: Replicated): LabelSelector {
  return owner.kind === 'ReplicaSet'
    ? (owner as ReplicaSet).spec.selector
    : { matchLabels: (owner as ReplicationController).spec.selector ?? {} };
}

/** Keeps the number of pods that a ReplicaSet or a ReplicationController specifies. */
export function replicaController(
  setting: WorkloadSetting,
  resource: GroupResource,
  kind: 'ReplicaSet' | 'ReplicationController',
): StoreController {
  const replicas = new Replicas(setting, resource, kind);
  return {
    name: kind.toLowerCase(),
    watches: { [resource]: ownKey, pods: podKeys(setting, resource, kind) },
    reconcile: (key) => replicas.reconcile(key),
  };
}

class Replicas {
  readonly #setting: WorkloadSetting;
  readonly #resource: GroupResource;
  readonly #recorder: EventRecorder;

  constructor(setting: WorkloadSetting, resource: GroupResource, kind: string) {
    this.#setting = setting;
    this.#resource = resource;
    this.#recorder = new EventRecorder(setting, `${kind.toLowerCase()}-controller`);
  }

  reconcile(key: string): Outcome {
    const { api, clock } = this.#setting;
    const { namespace, name } = splitKey(key);
    const owner = api.store.get(this.#resource, namespace, name) as Replicated | undefined;
    if (owner === undefined) return done;
    const demand = {
      replicas: owner.spec.replicas,
      templateLabels: owner.spec.template.metadata?.labels ?? {},
      minReadySeconds: owner.spec.minReadySeconds ?? 0,
    };
    const pods = claimPods(this.#setting, owner, selectorOf(owner));
    const plan = planReplicas(demand, pods, clock.wallTime());
    const isLeaving = owner.metadata.deletionTimestamp !== undefined;
    const failure = isLeaving ? undefined : this.#act(owner, plan);
    const after = ownPods(this.#setting, owner);
    this.#report(owner, planReplicas(demand, after, clock.wallTime()), failure);
    if (failure !== undefined) return retryAfter(retryDelayMs, failure.message);
    if (plan.nextAvailableMs === undefined) return done;
    return retryAfter(plan.nextAvailableMs, 'a ready pod becomes available');
  }

  #act(owner: Replicated, plan: ReplicaPlan): ApiError | undefined {
    const { api } = this.#setting;
    try {
      for (let made = 0; made < plan.create; made += 1) {
        const pod = createPod(api, owner, owner.spec.template);
        const message = `Created pod: ${pod.metadata.name}`;
        this.#recorder.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const message = `Error creating: ${error.message}`;
      this.#recorder.record(owner, { type: 'Warning', reason: 'FailedCreate', message });
      return error;
    }
    for (const { metadata } of plan.remove) {
      const preconditions = { uid: metadata.uid };
      api.delete('pods', metadata.namespace, metadata.name, { preconditions });
      const message = `Deleted pod: ${metadata.name}`;
      this.#recorder.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message });
    }
    return undefined;
  }

  #report(owner: Replicated, { counts }: ReplicaPlan, failure: ApiError | undefined): void {
    const { api, clock } = this.#setting;
    const conditions = failureCondition(owner, failure, now(clock));
    const { fullyLabeledReplicas, readyReplicas, availableReplicas, terminatingReplicas } = counts;
    const status = {
      ...(conditions.length === 0 ? {} : { conditions }),
      observedGeneration: owner.metadata.generation ?? 0,
      replicas: counts.replicas,
      ...(fullyLabeledReplicas === 0 ? {} : { fullyLabeledReplicas }),
      ...(readyReplicas === 0 ? {} : { readyReplicas }),
      ...(availableReplicas === 0 ? {} : { availableReplicas }),
      ...(owner.kind === 'ReplicaSet' ? { terminatingReplicas } : {}),
    };
    if (jsonEqual(status, owner.status)) return;
    api.update(this.#resource, { ...structuredClone(owner), status }, { subresource: 'status' });
  }
}

function failureCondition(
  { status }: Replicated,
  failure: ApiError | undefined,
  time: string,
): Condition[] {
  if (failure === undefined) return withoutCondition(status?.conditions, 'ReplicaFailure');
  return withCondition(
    status?.conditions,
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: failure.message },
    time,
  );
}

/** The controller of a pod or, if the pod has no controller, all owners that select it. */
function podKeys(
  { api }: WorkloadSetting,
  resource: GroupResource,
  kind: string,
): (change: Change) => Iterable<string> {
  const ownerKeys = controllerKey(kind);
  return function* keys(change) {
    yield* ownerKeys(change);
    const { metadata } = change.object;
    if ((metadata.ownerReferences ?? []).some(({ controller }) => controller === true)) return;
    for (const owner of api.store.list(resource, metadata.namespace)) {
      if (selects(selectorOf(owner as Replicated), metadata.labels)) yield keyOf(owner);
    }
  };
}

/** Adopts matching pods without a controller and releases own pods that no longer match. */
function claimPods(setting: WorkloadSetting, owner: Replicated, selector: LabelSelector): Pod[] {
  const { api, controlled } = setting;
  const kept = ownPods(setting, owner).filter((pod) => {
    if (selects(selector, pod.metadata.labels)) return true;
    if (pod.metadata.deletionTimestamp !== undefined) return true;
    const draft = structuredClone(pod);
    const owners = draft.metadata.ownerReferences ?? [];
    draft.metadata.ownerReferences = owners.filter(({ uid }) => uid !== owner.metadata.uid);
    api.update('pods', draft);
    return false;
  });
  if (owner.metadata.deletionTimestamp !== undefined) return kept;
  const adopted = controlled
    .free('pods', owner.metadata.namespace)
    .map((pod) => pod as Pod)
    .filter(
      (pod) =>
        selects(selector, pod.metadata.labels) &&
        pod.metadata.deletionTimestamp === undefined &&
        !isPodFinished(pod),
    )
    .map((pod) => {
      const draft = structuredClone(pod);
      const owners = draft.metadata.ownerReferences ?? [];
      draft.metadata.ownerReferences = [...owners, controllerReference(owner)];
      api.update('pods', draft);
      return draft;
    });
  return [...kept, ...adopted];
}
