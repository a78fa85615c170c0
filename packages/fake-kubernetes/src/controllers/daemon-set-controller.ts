import { done, retryAfter, type Outcome } from '@causeway/base/work/controller';
import type { DaemonSet } from '../resources/daemon-set.ts';
import type { Node } from '../resources/node.ts';
import {
  isPodFinished,
  isPodReady,
  type Pod,
  type PodTemplate,
} from '../resources/pod/pod-type.ts';
import { scaledCount } from '../resources/workload.ts';
import { jsonEqual } from '../schema/json.ts';
import { ApiError } from '../status.ts';
import { ownPods, type WorkloadSetting } from './controlled-objects.ts';
import { EventRecorder } from './event-recorder.ts';
import { createPod } from './pod-factory.ts';
import { chooseNode } from './scheduler.ts';
import {
  controllerKey,
  keyOf,
  ownKey,
  splitKey,
  type StoreController,
} from './store-controller.ts';
import { templateHash } from './template-hash.ts';

const resource = 'daemonsets.apps';
const hashLabel = 'controller-revision-hash';
const retryDelayMs = 1_000;

/** Keeps one pod on every eligible node, including nodes that are not ready yet. */
export function daemonSetController(setting: WorkloadSetting): StoreController {
  const sets = new DaemonSets(setting);
  return {
    name: 'daemonset',
    watches: {
      [resource]: ownKey,
      pods: controllerKey('DaemonSet'),
      *nodes() {
        for (const set of setting.api.store.list(resource)) yield keyOf(set);
      },
    },
    reconcile: (key) => sets.reconcile(key),
  };
}

/** Tolerations of daemon pods. Daemons can be the reason that a node becomes ready. */
const daemonTolerations = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

class DaemonSets {
  readonly #setting: WorkloadSetting;
  readonly #recorder: EventRecorder;

  constructor(setting: WorkloadSetting) {
    this.#setting = setting;
    this.#recorder = new EventRecorder(setting, 'daemonset-controller');
  }

  reconcile(key: string): Outcome {
    const { api } = this.#setting;
    const { namespace, name } = splitKey(key);
    const set = api.store.get(resource, namespace, name) as DaemonSet | undefined;
    if (set === undefined) return done;
    const hash = templateHash(set.spec.template);
    let failure: ApiError | undefined;
    if (set.metadata.deletionTimestamp === undefined) {
      failure = this.#place(set, hash);
      this.#replaceOld(set, hash);
    }
    this.#report(set, hash);
    return failure === undefined ? done : retryAfter(retryDelayMs, failure.message);
  }

  #nodes({ spec }: DaemonSet): Node[] {
    const template = daemonTemplate(spec.template);
    const pod = { spec: template.spec, metadata: {} } as Pod;
    return this.#setting.api.store
      .list('nodes')
      .map((node) => node as Node)
      .filter((node) => {
        const opened = { ...node, spec: { ...node.spec, unschedulable: false } };
        return chooseNode(pod, [opened], []).nodeName !== undefined;
      });
  }

  /** Creates missing pods on eligible nodes and deletes pods from other nodes. */
  #place(set: DaemonSet, hash: string): ApiError | undefined {
    const wanted = new Set(this.#nodes(set).map(({ metadata }) => metadata.name));
    const taken = new Set<string>();
    for (const pod of ownPods(this.#setting, set)) {
      const nodeName = pod.spec.nodeName ?? '';
      if (!wanted.has(nodeName) || taken.has(nodeName) || isPodFinished(pod))
        this.#remove(set, pod);
      taken.add(nodeName);
    }
    try {
      for (const nodeName of wanted) {
        if (taken.has(nodeName)) continue;
        const template = daemonTemplate(set.spec.template);
        template.spec.nodeName = nodeName;
        const pod = createPod(this.#setting.api, set, template, { labels: { [hashLabel]: hash } });
        const message = `Created pod: ${pod.metadata.name}`;
        this.#recorder.record(set, { type: 'Normal', reason: 'SuccessfulCreate', message });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return error;
    }
    return undefined;
  }

  #remove(set: DaemonSet, { metadata }: Pod): void {
    if (metadata.deletionTimestamp !== undefined) return;
    const preconditions = { uid: metadata.uid };
    this.#setting.api.delete('pods', metadata.namespace, metadata.name, { preconditions });
    const message = `Deleted pod: ${metadata.name}`;
    this.#recorder.record(set, { type: 'Normal', reason: 'SuccessfulDelete', message });
  }

  /** Replaces pods of an earlier template, and keeps the number of missing pods within `maxUnavailable`. */
  #replaceOld(set: DaemonSet, hash: string): void {
    const { type, rollingUpdate } = set.spec.updateStrategy;
    if (type !== 'RollingUpdate') return;
    const pods = ownPods(this.#setting, set);
    const most = Math.max(scaledCount(rollingUpdate?.maxUnavailable, pods.length, 'up'), 1);
    const isOld = ({ metadata }: Pod) => metadata.labels?.[hashLabel] !== hash;
    const missing = pods.filter((pod) => !isPodReady(pod) || isLeaving(pod)).length;
    const idle = pods.filter((pod) => isOld(pod) && !isPodReady(pod) && !isLeaving(pod));
    const serving = pods.filter((pod) => isOld(pod) && isPodReady(pod) && !isLeaving(pod));
    for (const pod of [...idle, ...serving.slice(0, Math.max(most - missing, 0))]) {
      this.#remove(set, pod);
    }
  }

  #report(set: DaemonSet, hash: string): void {
    const pods = ownPods(this.#setting, set).filter((pod) => !isLeaving(pod));
    const nodes = new Set(this.#nodes(set).map(({ metadata }) => metadata.name));
    const placed = pods.filter(({ spec }) => nodes.has(spec.nodeName ?? ''));
    const ready = placed.filter(isPodReady).length;
    const updated = placed.filter(({ metadata }) => metadata.labels?.[hashLabel] === hash).length;
    const unavailable = nodes.size - ready;
    const status = {
      currentNumberScheduled: placed.length,
      desiredNumberScheduled: nodes.size,
      numberMisscheduled: pods.length - placed.length,
      numberReady: ready,
      ...(ready === 0 ? {} : { numberAvailable: ready }),
      ...(unavailable === 0 ? {} : { numberUnavailable: unavailable }),
      observedGeneration: set.metadata.generation ?? 0,
      ...(updated === 0 ? {} : { updatedNumberScheduled: updated }),
    };
    if (jsonEqual(status, set.status)) return;
    const draft = { ...structuredClone(set), status };
    this.#setting.api.update(resource, draft, { subresource: 'status' });
  }
}

const isLeaving = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

function daemonTemplate(template: PodTemplate): PodTemplate {
  const copy = structuredClone(template);
  copy.spec.tolerations = [...(copy.spec.tolerations ?? []), ...daemonTolerations];
  return copy;
}
