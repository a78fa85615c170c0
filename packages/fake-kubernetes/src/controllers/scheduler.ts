import { done, wait, type Outcome } from '@causeway/base/work/controller';
import type { Node } from '../resources/node.ts';
import {
  isPodFinished,
  type Pod,
  type PodCondition,
  type Toleration,
} from '../resources/pod/pod-type.ts';
import {
  keyOf,
  ownKey,
  splitKey,
  type ControllerSetting,
  type StoreController,
} from './store-controller.ts';
import { now } from './timestamp.ts';

/** Binds each pod to the eligible node with the fewest pods. It ignores resource requests. */
export function scheduler(setting: ControllerSetting): StoreController {
  const { api } = setting;
  return {
    name: 'scheduler',
    watches: {
      pods: ownKey,
      *nodes() {
        for (const pod of api.store.list('pods')) if (isWaiting(pod as Pod)) yield keyOf(pod);
      },
    },
    reconcile: (key) => schedule(setting, key),
  };
}

function isWaiting({ spec, metadata }: Pod): boolean {
  const isOurs = (spec.schedulerName ?? 'default-scheduler') === 'default-scheduler';
  return isOurs && (spec.nodeName ?? '') === '' && metadata.deletionTimestamp === undefined;
}

function schedule({ api, clock }: ControllerSetting, key: string): Outcome {
  const { namespace, name } = splitKey(key);
  const pod = api.store.get('pods', namespace, name) as Pod | undefined;
  if (pod === undefined || !isWaiting(pod)) return done;
  const nodes = api.store.list('nodes').map((node) => node as Node);
  const others = api.store.list('pods').map((other) => other as Pod);
  const choice = chooseNode(pod, nodes, others);
  if (choice.nodeName === undefined) {
    const condition = scheduled('False', { reason: 'Unschedulable', message: choice.reason });
    writeCondition(pod, condition);
    return wait(choice.reason);
  }
  const draft = structuredClone(pod);
  draft.spec.nodeName = choice.nodeName;
  draft.status = {
    ...draft.status,
    conditions: withPodCondition(draft, scheduled('True'), now(clock)),
  };
  // An ordinary update can't set the node, so the binding goes directly to the store.
  api.store.replace('pods', draft);
  return done;

  function writeCondition(waiting: Pod, condition: PodCondition): void {
    const had = waiting.status?.conditions?.find(({ type }) => type === condition.type);
    if (had?.message === condition.message) return;
    const conditions = withPodCondition(waiting, condition, now(clock));
    const status = { ...waiting.status, conditions };
    api.update('pods', { ...structuredClone(waiting), status }, { subresource: 'status' });
  }
}

function scheduled(status: string, why: { reason?: string; message?: string } = {}): PodCondition {
  return { type: 'PodScheduled', status, lastProbeTime: null, ...why };
}

/** Sets one condition of the pod. Its transition time changes only with its status. */
export function withPodCondition(pod: Pod, condition: PodCondition, time: string): PodCondition[] {
  const conditions = pod.status?.conditions ?? [];
  const had = conditions.find(({ type }) => type === condition.type);
  const isSame = had?.status === condition.status;
  const next = {
    ...condition,
    lastTransitionTime: isSame ? (had?.lastTransitionTime ?? time) : time,
  };
  return had === undefined
    ? [...conditions, next]
    : conditions.map((one) => (one === had ? next : one));
}

export type Choice =
  | { readonly nodeName: string }
  | { readonly nodeName?: undefined; readonly reason: string };

export function chooseNode(pod: Pod, nodes: readonly Node[], pods: readonly Pod[]): Choice {
  if (nodes.length === 0) return { reason: 'no nodes available to schedule pods' };
  const reasons = new Map<string, number>();
  const fitting = nodes.filter((node) => {
    const reason = misfit(pod, node);
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return reason === undefined;
  });
  const load = (node: Node) =>
    pods.filter((other) => other.spec.nodeName === node.metadata.name && !isPodFinished(other))
      .length;
  const [best] = fitting
    .map((node) => ({ name: node.metadata.name, load: load(node) }))
    .sort((a, b) => a.load - b.load || (a.name < b.name ? -1 : 1));
  if (best !== undefined) return { nodeName: best.name };
  const why = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return { reason: `0/${nodes.length} nodes are available: ${why.join(', ')}.` };
}

function misfit(pod: Pod, node: Node): string | undefined {
  const labels = node.metadata.labels ?? {};
  const fitsSelector = Object.entries(pod.spec.nodeSelector ?? {}).every(
    ([key, value]) => labels[key] === value,
  );
  if (!fitsSelector) return "node(s) didn't match Pod's node affinity/selector";
  if (node.spec.unschedulable === true) return 'node(s) were unschedulable';
  const taint = (node.spec.taints ?? []).find(
    ({ key, value = '', effect }) =>
      effect !== 'PreferNoSchedule' &&
      !(pod.spec.tolerations ?? []).some((one) => tolerates(one, key, value, effect)),
  );
  if (taint === undefined) return undefined;
  return `node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ''}}`;
}

function tolerates(toleration: Toleration, key: string, value: string, effect: string): boolean {
  const { key: wanted = '', operator = 'Equal', value: given = '', effect: only = '' } = toleration;
  if (only !== '' && only !== effect) return false;
  if (wanted !== '' && wanted !== key) return false;
  return operator === 'Exists' || (wanted !== '' && given === value);
}
