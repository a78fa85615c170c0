import { done, retryAfter, type Outcome } from '@causeway/base/work/controller';
import type { Pod, PodTemplate } from '../resources/pod/pod-type.ts';
import type { Deployment, ReplicaSet } from '../resources/workload-type.ts';
import { jsonEqual } from '../schema/json.ts';
import { planPaused, planRollout, rolloutMargins, type Sizes } from './deployment-plan.ts';
import { deploymentStatus, type DeploymentFacts } from './deployment-status.ts';
import { ownPods, type WorkloadSetting } from './controlled-objects.ts';
import { EventRecorder } from './event-recorder.ts';
import {
  controllerKey,
  controllerReference,
  ownKey,
  splitKey,
  type StoreController,
} from './store-controller.ts';
import { templateHash } from './template-hash.ts';
import { now } from './timestamp.ts';

const hashLabel = 'pod-template-hash';
const revisionAnnotation = 'deployment.kubernetes.io/revision';
const resource = 'replicasets.apps';

type Progress = DeploymentFacts['progress'];

/** Rolls out Deployments: one ReplicaSet for each version of the template, scaled step by step. */
export function deploymentController(setting: WorkloadSetting): StoreController {
  const rollouts = new Rollouts(setting);
  return {
    name: 'deployment',
    watches: {
      'deployments.apps': ownKey,
      [resource]: controllerKey('Deployment'),
      pods: (change) => rollouts.deploymentsOf(change.object),
    },
    reconcile: (key) => rollouts.reconcile(key),
  };
}

class Rollouts {
  readonly #setting: WorkloadSetting;
  readonly #recorder: EventRecorder;

  constructor(setting: WorkloadSetting) {
    this.#setting = setting;
    this.#recorder = new EventRecorder(setting, 'deployment-controller');
  }

  /** The Deployment of a pod's ReplicaSet. A `Recreate` rollout waits until the old pods are deleted. */
  *deploymentsOf({ metadata }: Pod | { metadata: Pod['metadata'] }): Iterable<string> {
    const { api } = this.#setting;
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind !== 'ReplicaSet') return;
    const set = api.store.get(resource, metadata.namespace, owner.name);
    if (set === undefined) return;
    yield* controllerKey('Deployment')({ type: 'MODIFIED', version: 0, object: set });
  }

  reconcile(key: string): Outcome {
    const { api } = this.#setting;
    const { namespace, name } = splitKey(key);
    let deployment = api.store.get('deployments.apps', namespace, name) as Deployment | undefined;
    if (deployment === undefined) return done;
    if (deployment.metadata.deletionTimestamp !== undefined) {
      this.#report(deployment, undefined);
      return done;
    }
    let progress: Progress;
    if (this.#current(deployment) !== undefined || deployment.spec.paused !== true) {
      progress = this.#ensureCurrent(deployment);
      deployment = api.store.get('deployments.apps', namespace, name) as Deployment;
    }
    this.#resize(deployment);
    this.#report(deployment, progress);
    this.#forgetOldRevisions(deployment);
    const { spec, status } = deployment;
    if ((status?.updatedReplicas ?? 0) >= spec.replicas) return done;
    const deadlineMs = (spec.progressDeadlineSeconds ?? 600) * 1000;
    return retryAfter(deadlineMs + 1000, 'the rollout may have timed out');
  }

  #sets(deployment: Deployment): ReplicaSet[] {
    return this.#setting.controlled
      .of(resource, deployment)
      .map((set) => set as ReplicaSet)
      .sort((left, right) => revisionOf(left) - revisionOf(right));
  }

  #current(deployment: Deployment): ReplicaSet | undefined {
    const wanted = withoutHash(deployment.spec.template);
    return this.#sets(deployment).find((set) => jsonEqual(withoutHash(set.spec.template), wanted));
  }

  /** Finds or creates the ReplicaSet of the current template and gives it the newest revision. */
  #ensureCurrent(deployment: Deployment): Progress {
    const { api } = this.#setting;
    const sets = this.#sets(deployment);
    const found = this.#current(deployment);
    const newest = Math.max(0, ...sets.filter((set) => set !== found).map(revisionOf)) + 1;
    let progress: Progress;
    let revision = newest;
    if (found === undefined) progress = this.#createSet(deployment, String(newest));
    else {
      revision = Math.max(revisionOf(found), newest);
      this.#annotate(found, deployment, revision);
      const conditions = deployment.status?.conditions ?? [];
      if (!conditions.some(({ type }) => type === 'Progressing')) {
        const message = `Found new replica set ${JSON.stringify(found.metadata.name)}`;
        progress = { reason: 'FoundNewReplicaSet', message };
      }
    }
    if (deployment.metadata.annotations?.[revisionAnnotation] !== String(revision)) {
      const draft = structuredClone(deployment);
      const annotations = { ...draft.metadata.annotations, [revisionAnnotation]: String(revision) };
      draft.metadata.annotations = annotations;
      api.update('deployments.apps', draft);
    }
    return progress;
  }

  #createSet(deployment: Deployment, revision: string): Progress {
    const { api } = this.#setting;
    const { spec, metadata } = deployment;
    const hash = templateHash(spec.template, deployment.status?.collisionCount ?? 0);
    const template = structuredClone(spec.template);
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    template.metadata = { ...template.metadata, labels };
    const name = `${metadata.name}-${hash}`;
    api.create(resource, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        labels,
        annotations: { ...sizeAnnotations(deployment), [revisionAnnotation]: revision },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas: 0,
        ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
        selector: {
          ...spec.selector,
          matchLabels: { ...spec.selector.matchLabels, [hashLabel]: hash },
        },
        template,
      },
    });
    const message = `Created new replica set ${JSON.stringify(name)}`;
    return { reason: 'NewReplicaSetCreated', message };
  }

  #annotate(set: ReplicaSet, deployment: Deployment, revision: number): void {
    const annotations = {
      ...set.metadata.annotations,
      ...sizeAnnotations(deployment),
      [revisionAnnotation]: String(revision),
    };
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
    const isSame =
      jsonEqual(annotations, set.metadata.annotations) &&
      minReadySeconds === (set.spec.minReadySeconds ?? 0);
    if (isSame) return;
    const draft = structuredClone(set);
    draft.metadata.annotations = annotations;
    if (minReadySeconds === 0) delete draft.spec.minReadySeconds;
    else draft.spec.minReadySeconds = minReadySeconds;
    this.#setting.api.update(resource, draft);
  }

  #resize(deployment: Deployment): void {
    const sets = this.#sets(deployment);
    for (const [name, size] of this.#sizes(deployment, sets)) {
      const set = sets.find(({ metadata }) => metadata.name === name);
      if (set === undefined) continue;
      const direction = size > set.spec.replicas ? 'up' : 'down';
      const draft = structuredClone(set);
      draft.spec.replicas = size;
      this.#setting.api.update(resource, draft);
      const message = `Scaled ${direction} replica set ${name} from ${set.spec.replicas} to ${size}`;
      this.#recorder.record(deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message });
    }
  }

  #sizes(deployment: Deployment, sets: readonly ReplicaSet[]): Sizes {
    const current = this.#current(deployment);
    if (current === undefined) return planPaused(deployment, sets);
    const earlier = sets.filter((set) => set.metadata.name !== current.metadata.name);
    const hasEarlierPods = this.#pods(earlier).length > 0;
    return planRollout({ deployment, current, earlier, hasEarlierPods });
  }

  #pods(sets: readonly ReplicaSet[]): Pod[] {
    return sets.flatMap((set) => ownPods(this.#setting, set));
  }

  #report(deployment: Deployment, progress: Progress): void {
    const { api, clock } = this.#setting;
    const sets = this.#sets(deployment);
    const current = this.#current(deployment);
    const facts = { deployment, current, sets, pods: this.#pods(sets), progress };
    const status = deploymentStatus(facts, clock.wallTime(), now(clock));
    const { collisionCount } = deployment.status ?? {};
    const next = collisionCount === undefined ? status : { ...status, collisionCount };
    if (jsonEqual(next, deployment.status)) return;
    const draft = { ...structuredClone(deployment), status: next };
    api.update('deployments.apps', draft, { subresource: 'status' });
  }

  #forgetOldRevisions(deployment: Deployment): void {
    const current = this.#current(deployment)?.metadata.name;
    const unused = this.#sets(deployment).filter(
      ({ metadata, spec, status }) =>
        metadata.name !== current && spec.replicas === 0 && (status?.replicas ?? 0) === 0,
    );
    const limit = deployment.spec.revisionHistoryLimit ?? 10;
    for (const { metadata } of unused.slice(0, Math.max(unused.length - limit, 0))) {
      this.#setting.api.delete(resource, metadata.namespace, metadata.name);
    }
  }
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0);
}

function sizeAnnotations(deployment: Deployment): Record<string, string> {
  const { replicas } = deployment.spec;
  const { surge } = rolloutMargins(deployment);
  return {
    'deployment.kubernetes.io/desired-replicas': String(replicas),
    'deployment.kubernetes.io/max-replicas': String(replicas + surge),
  };
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
