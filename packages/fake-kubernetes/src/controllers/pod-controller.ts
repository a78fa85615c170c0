import { done, type Outcome } from '@causeway/base/work/controller';
import {
  hasCondition,
  isPodFinished,
  type ContainerStatus,
  type Pod,
  type PodCondition,
  type PodStatus,
} from '../resources/pod/pod-type.ts';
import { jsonEqual } from '../schema/json.ts';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { PodRunner, RunningPod } from './pod-runner.ts';
import { withPodCondition } from './scheduler.ts';
import {
  ownKey,
  runStoreController,
  splitKey,
  type ControllerSetting,
} from './store-controller.ts';
import { now } from './timestamp.ts';

/**
 * Does the work of every node's kubelet: starts bound pods, reports their status, and terminates deleted
 * pods.
 */
export async function runPodController(
  setting: ControllerSetting,
  runner: PodRunner,
  signal: AbortSignal,
): Promise<void> {
  let subscription: { close(): void } | undefined;
  try {
    await runStoreController(
      setting,
      {
        name: 'pod',
        watches: { pods: ownKey },
        onStart(add) {
          subscription = runner.onReadinessChange(add);
        },
        reconcile: (key, limited) => reconcilePod(setting, runner, key, limited),
      },
      signal,
    );
  } finally {
    subscription?.close();
  }
}

async function reconcilePod(
  setting: ControllerSetting,
  runner: PodRunner,
  key: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { api, clock } = setting;
  const { namespace, name } = splitKey(key);
  const pod = api.store.get('pods', namespace, name) as Pod | undefined;
  if (pod === undefined || (pod.spec.nodeName ?? '') === '') return done;
  if (pod.metadata.deletionTimestamp !== undefined) {
    await end(setting, runner, pod, signal);
    return done;
  }
  if (isPodFinished(pod)) return done;
  const running = await runner.start(pod, signal);
  // The pod can have changed while it started.
  const latest = api.store.get('pods', namespace, name) as Pod | undefined;
  if (latest?.metadata.uid !== pod.metadata.uid) return done;
  const status = runningStatus(latest, running, runner.isReady(latest), now(clock));
  if (jsonEqual(status, latest.status)) return done;
  api.update('pods', { ...structuredClone(latest), status }, { subresource: 'status' });
  return done;
}

async function end(
  { api }: ControllerSetting,
  runner: PodRunner,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid, deletionGracePeriodSeconds = 0 } = pod.metadata;
  await runner.stop(pod, deletionGracePeriodSeconds, signal);
  try {
    api.delete('pods', namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    const isGone = isErrorCode(error, 'not-found') || isErrorCode(error, 'conflict');
    if (!isGone) throw error;
  }
}

function runningStatus(pod: Pod, running: RunningPod, ready: boolean, time: string): PodStatus {
  const [podIP] = running.addresses;
  const [hostIP] = running.hostAddresses;
  const gates = (pod.spec.readinessGates ?? []).every(({ conditionType }) =>
    hasCondition(pod, conditionType),
  );
  const why = ready
    ? {}
    : {
        reason: 'ContainersNotReady',
        message: `containers with unready status: [${pod.spec.containers.map(({ name }) => name).join(' ')}]`,
      };
  const whyGates = gates
    ? why
    : {
        reason: 'ReadinessGatesNotReady',
        message: 'the status of pod readiness gate is not "True"',
      };
  const found: readonly PodCondition[] = [
    { type: 'PodReadyToStartContainers', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'Ready', status: ready && gates ? 'True' : 'False', ...(ready ? whyGates : why) },
    { type: 'ContainersReady', status: ready ? 'True' : 'False', ...why },
    { type: 'PodScheduled', status: 'True' },
  ];
  const base = pod.status ?? {};
  const conditions = found.reduce(
    (all, condition) =>
      withPodCondition(
        { ...pod, status: { conditions: all } },
        { lastProbeTime: null, ...condition },
        time,
      ),
    base.conditions ?? [],
  );
  return {
    ...base,
    phase: 'Running',
    conditions,
    ...(podIP === undefined ? {} : { podIP }),
    podIPs: running.addresses.map((ip) => ({ ip })),
    ...(hostIP === undefined ? {} : { hostIP }),
    hostIPs: running.hostAddresses.map((ip) => ({ ip })),
    startTime: base.startTime ?? time,
    containerStatuses: pod.spec.containers.map((container, index) =>
      containerStatus(
        container.name,
        container.image ?? '',
        ready,
        base.containerStatuses?.[index],
        time,
      ),
    ),
  };
}

function containerStatus(
  name: string,
  image: string,
  ready: boolean,
  had: ContainerStatus | undefined,
  time: string,
): ContainerStatus {
  return {
    image,
    imageID: '',
    name,
    ready,
    restartCount: had?.restartCount ?? 0,
    started: true,
    state: had?.state ?? { running: { startedAt: time } },
    lastState: had?.lastState ?? {},
  };
}
