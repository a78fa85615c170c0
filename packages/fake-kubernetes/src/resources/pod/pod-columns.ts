import type { Column } from '../../resource-definition.ts';
import { ageColumn, column, nameColumn, timeSince, wideColumn } from '../columns.ts';
import {
  hasCondition,
  isPodFinished,
  isPodReady,
  type ContainerStatus,
  type Pod,
} from './pod-type.ts';

const orNone = (text: string | undefined) => (text === undefined || text === '' ? '<none>' : text);

export const podColumns: readonly Column[] = [
  nameColumn,
  column<Pod>('Ready', readyCount),
  column<Pod>('Status', podReason),
  column<Pod>('Restarts', restarts),
  ageColumn,
  wideColumn<Pod>('IP', ({ status }) => orNone(status?.podIPs?.[0]?.ip)),
  wideColumn<Pod>('Node', ({ spec }) => orNone(spec.nodeName)),
  wideColumn<Pod>('Nominated Node', ({ status }) => orNone(status?.nominatedNodeName)),
  wideColumn<Pod>('Readiness Gates', readinessGates),
];

/** Sidecar containers are `initContainers` that keep running. They count as containers. */
function sidecarNames({ spec }: Pod): ReadonlySet<string> {
  const sidecars = (spec.initContainers ?? []).filter((one) => one.restartPolicy === 'Always');
  return new Set(sidecars.map(({ name }) => name));
}

function readyCount(pod: Pod): string {
  const sidecars = sidecarNames(pod);
  const total = pod.spec.containers.length + sidecars.size;
  const ready = (pod.status?.containerStatuses ?? []).filter(isRunningAndReady).length;
  const readySidecars = (pod.status?.initContainerStatuses ?? []).filter(
    (one) => sidecars.has(one.name) && one.ready && one.started === true,
  ).length;
  return `${ready + readySidecars}/${total}`;
}

function isRunningAndReady({ ready, state }: ContainerStatus): boolean {
  return ready && state?.running !== undefined;
}

/** The status text of a pod: its phase, or the reason why a container doesn't run. */
function podReason(pod: Pod): string {
  const { status, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined && !isPodFinished(pod)) {
    return status?.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  const gated = (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  const initial = gated ? 'SchedulingGated' : (status?.reason ?? status?.phase ?? '');
  const initializing = initReason(pod);
  if (initializing !== undefined && !hasCondition(pod, 'Initialized')) return initializing;
  return containersReason(pod, initial);
}

function initReason(pod: Pod): string | undefined {
  const statuses = pod.status?.initContainerStatuses ?? [];
  const sidecars = sidecarNames(pod);
  for (const [index, { name, state, started }] of statuses.entries()) {
    if (state?.terminated?.exitCode === 0) continue;
    if (sidecars.has(name) && started === true) continue;
    if (state?.terminated !== undefined) return `Init:${terminationReason(state.terminated)}`;
    const waiting = state?.waiting?.reason ?? '';
    if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${pod.spec.initContainers?.length ?? 0}`;
  }
  return undefined;
}

function terminationReason(end: { exitCode: number; reason?: string; signal?: number }): string {
  if (end.reason !== undefined && end.reason !== '') return end.reason;
  const { signal = 0 } = end;
  return signal === 0 ? `ExitCode:${end.exitCode}` : `Signal:${signal}`;
}

function containersReason(pod: Pod, initial: string): string {
  let reason = initial;
  let errorReason = '';
  const statuses = pod.status?.containerStatuses ?? [];
  for (const { state } of statuses.toReversed()) {
    const waiting = state?.waiting?.reason ?? '';
    if (waiting !== '') reason = waiting;
    else if (state?.terminated !== undefined) {
      reason = terminationReason(state.terminated);
      if (state.terminated.exitCode !== 0) errorReason = reason;
    }
  }
  if (reason !== 'Completed') return reason;
  const hasRunning = statuses.some(isRunningAndReady);
  if (hasRunning && isPodReady(pod)) return 'Running';
  if (errorReason !== '') return errorReason;
  return hasRunning ? 'NotReady' : reason;
}

function restarts(pod: Pod, now: number): string {
  const sidecars = sidecarNames(pod);
  const statuses = [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const count = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const latest = statuses
    .map(({ lastState }) => lastState?.terminated?.finishedAt ?? '')
    .sort()
    .at(-1);
  if (count === 0 || latest === undefined || latest === '') return String(count);
  return `${count} (${timeSince(latest, now)} ago)`;
}

function readinessGates(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const open = gates.filter(({ conditionType }) => hasCondition(pod, conditionType)).length;
  return `${open}/${gates.length}`;
}
