import { done, retryAfter, type Outcome } from '@causeway/base/work/controller';
import type { KubeObject } from '../object.ts';
import { isPodReady, type Pod, type PodTemplate } from '../resources/pod/pod-type.ts';
import type { StatefulSet } from '../resources/workload-type.ts';
import { jsonEqual } from '../schema/json.ts';
import { ApiError } from '../status.ts';
import { ownPods, type WorkloadSetting } from './controlled-objects.ts';
import { EventRecorder } from './event-recorder.ts';
import { createPod } from './pod-factory.ts';
import {
  isAvailable,
  nextStatefulSetStep,
  revisionLabel,
  type StatefulSetFacts,
} from './stateful-set-plan.ts';
import {
  controllerKey,
  controllerReference,
  ownKey,
  splitKey,
  type StoreController,
} from './store-controller.ts';
import { templateHash } from './template-hash.ts';

const resource = 'statefulsets.apps';
const revisions = 'controllerrevisions.apps';
const retryDelayMs = 1_000;

interface Revision extends KubeObject {
  revision: number;
  data: { spec: { template: PodTemplate } };
}

/** Manages the pods of StatefulSets: numbered, ordered, with stable names. */
export function statefulSetController(setting: WorkloadSetting): StoreController {
  const sets = new StatefulSets(setting);
  return {
    name: 'statefulset',
    watches: { [resource]: ownKey, pods: controllerKey('StatefulSet') },
    reconcile: (key) => sets.reconcile(key),
  };
}

class StatefulSets {
  readonly #setting: WorkloadSetting;
  readonly #recorder: EventRecorder;

  constructor(setting: WorkloadSetting) {
    this.#setting = setting;
    this.#recorder = new EventRecorder(setting, 'statefulset-controller');
  }

  reconcile(key: string): Outcome {
    const { api } = this.#setting;
    const { namespace, name } = splitKey(key);
    const set = api.store.get(resource, namespace, name) as StatefulSet | undefined;
    if (set === undefined) return done;
    const update = this.#ensureRevision(set);
    const current = this.#currentRevision(set, update);
    const failure = this.#step(set, current, update);
    this.#report(set, current, update);
    this.#forgetOldRevisions(set, [current, update]);
    if (failure !== undefined) return retryAfter(retryDelayMs, failure.message);
    const pendingChanges = (set.spec.minReadySeconds ?? 0) > 0;
    return pendingChanges ? retryAfter(retryDelayMs, 'a ready pod becomes available') : done;
  }

  #facts(set: StatefulSet, current: string, update: string): StatefulSetFacts {
    const { clock } = this.#setting;
    const pods = ownPods(this.#setting, set);
    return { set, pods, current, update, wallTime: clock.wallTime() };
  }

  /** Takes steps until the next step has to wait for a pod. */
  #step(set: StatefulSet, current: string, update: string): ApiError | undefined {
    const { api } = this.#setting;
    const most = set.spec.replicas * 2 + 1;
    for (let count = 0; count < most; count += 1) {
      const step = nextStatefulSetStep(this.#facts(set, current, update));
      if (step.kind === 'none') return undefined;
      if (step.kind === 'remove') {
        const { metadata } = step.pod;
        const preconditions = { uid: metadata.uid };
        api.delete('pods', metadata.namespace, metadata.name, { preconditions });
        this.#recordEvent(
          set,
          'SuccessfulDelete',
          `delete Pod ${metadata.name} in StatefulSet ${set.metadata.name} successful`,
        );
        continue;
      }
      try {
        this.#createPod(set, step.ordinal, step.revision);
      } catch (error) {
        if (error instanceof ApiError) return error;
        throw error;
      }
    }
    return undefined;
  }

  #recordEvent(set: StatefulSet, reason: string, message: string): void {
    this.#recorder.record(set, { type: 'Normal', reason, message });
  }

  #createPod(set: StatefulSet, ordinal: number, revision: string): void {
    const name = `${set.metadata.name}-${ordinal}`;
    const stored = this.#revisions(set).find(({ metadata }) => metadata.name === revision);
    const template = structuredClone(stored?.data.spec.template ?? set.spec.template);
    Reflect.deleteProperty(template, '$patch');
    template.spec.hostname = name;
    if (set.spec.serviceName !== undefined) template.spec.subdomain = set.spec.serviceName;
    const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
      name: metadata.name,
      persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
    }));
    const rest = (template.spec.volumes ?? []).filter(
      (volume) => !claims.some((claim) => claim.name === volume.name),
    );
    if (claims.length > 0) template.spec.volumes = [...claims, ...rest];
    const labels = {
      'apps.kubernetes.io/pod-index': String(ordinal),
      [revisionLabel]: revision,
      'statefulset.kubernetes.io/pod-name': name,
    };
    createPod(this.#setting.api, set, template, { name, labels });
    this.#recordEvent(
      set,
      'SuccessfulCreate',
      `create Pod ${name} in StatefulSet ${set.metadata.name} successful`,
    );
  }

  #revisions(set: StatefulSet): Revision[] {
    return this.#setting.controlled
      .of(revisions, set)
      .map((one) => one as Revision)
      .sort((left, right) => left.revision - right.revision);
  }

  /** Creates the revision of the current template, or makes an existing one the newest. */
  #ensureRevision(set: StatefulSet): string {
    const { api } = this.#setting;
    const known = this.#revisions(set);
    const newest = known.at(-1);
    const data = {
      spec: { template: { ...structuredClone(set.spec.template), $patch: 'replace' } },
    };
    const found = known.find((one) => jsonEqual(one.data, data));
    if (found !== undefined) {
      if (found !== newest && newest !== undefined) {
        api.update(revisions, { ...structuredClone(found), revision: newest.revision + 1 });
      }
      return found.metadata.name;
    }
    const hash = templateHash(data, set.status?.collisionCount ?? 0);
    const name = `${set.metadata.name}-${hash}`;
    const labels = { ...set.spec.template.metadata?.labels, 'controller.kubernetes.io/hash': hash };
    api.create(revisions, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name,
        ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
        labels,
        ownerReferences: [controllerReference(set)],
      },
      data,
      revision: (newest?.revision ?? 0) + 1,
    });
    return name;
  }

  /** The last completely rolled out revision. Pods below a partition keep it. */
  #currentRevision(set: StatefulSet, update: string): string {
    const had = set.status?.currentRevision;
    const isKnown = this.#revisions(set).some(({ metadata }) => metadata.name === had);
    if (had === undefined || !isKnown) return update;
    const pods = ownPods(this.#setting, set);
    const facts = this.#facts(set, had, update);
    const isComplete =
      pods.length === set.spec.replicas &&
      pods.every((pod) => revisionOf(pod) === update && isAvailable(facts, pod));
    return isComplete ? update : had;
  }

  #report(set: StatefulSet, current: string, update: string): void {
    const facts = this.#facts(set, current, update);
    const { pods } = facts;
    const count = (test: (pod: Pod) => boolean) => pods.filter(test).length;
    const isLeaving = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;
    const readyReplicas = count(isPodReady);
    const currentReplicas = count((pod) => !isLeaving(pod) && revisionOf(pod) === current);
    const updatedReplicas = count((pod) => !isLeaving(pod) && revisionOf(pod) === update);
    const status = {
      availableReplicas: count((pod) => isAvailable(facts, pod)),
      collisionCount: set.status?.collisionCount ?? 0,
      ...(currentReplicas === 0 ? {} : { currentReplicas }),
      currentRevision: current,
      observedGeneration: set.metadata.generation ?? 0,
      ...(readyReplicas === 0 ? {} : { readyReplicas }),
      replicas: pods.length,
      updateRevision: update,
      ...(updatedReplicas === 0 ? {} : { updatedReplicas }),
    };
    if (jsonEqual(status, set.status)) return;
    const draft = { ...structuredClone(set), status };
    this.#setting.api.update(resource, draft, { subresource: 'status' });
  }

  #forgetOldRevisions(set: StatefulSet, kept: readonly string[]): void {
    const used = new Set([...kept, ...ownPods(this.#setting, set).map(revisionOf)]);
    const unused = this.#revisions(set).filter(({ metadata }) => !used.has(metadata.name));
    const limit = set.spec.revisionHistoryLimit ?? 10;
    for (const { metadata } of unused.slice(0, Math.max(unused.length - limit, 0))) {
      this.#setting.api.delete(revisions, metadata.namespace, metadata.name);
    }
  }
}

function revisionOf({ metadata }: Pod): string {
  return metadata.labels?.[revisionLabel] ?? '';
}
