import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { annotationsOf, hasIdledAt, holdAnnotation } from '../../idling/annotations.ts';
import { isReplayedAfter, readinessOf } from '../port-diversion.ts';
import type { Holding } from '../served-service.ts';
import { decideSwitch } from './decide-switch.ts';

/** State of a Service that is idle, or that was idle shortly before. Times are of a monotonic clock. */
export type IdleState =
  | { readonly kind: 'held'; readonly way: Holding['kind']; readonly uid: string | undefined }
  | Replaying;

/** Parked packets are replayed, and external connections keep their address. */
export interface Replaying {
  readonly kind: 'replaying';
  /** Time since which the kernel serves the Service; undefined before the transaction. */
  readonly servedAt: number | undefined;
  readonly uid: string | undefined;
}

export interface IdlingInput {
  readonly service: Service | undefined;
  /** Without the slices that the egress firewall hides. */
  readonly slices: readonly EndpointSlice[];
  /** Time at which the idle annotation was removed; undefined while it is present, and if it never was. */
  readonly unmarkedAt: number | undefined;
  /** The state as of the last decision. */
  readonly before: IdleState | undefined;
  /** The proxy is about to end, and accepts no more connections. */
  readonly isEnding: boolean;
  readonly now: number;
  /** How long connections are still held after the annotation was removed. */
  readonly graceMs: number;
}

export interface IdlingDecision {
  /** Undefined for a Service that is awake. */
  readonly state: IdleState | undefined;
  /** The decision must be made again at this time, because no change may arrive. */
  readonly recheckAt: number | undefined;
}

/**
 * External connections keep their address for this long after a Service was switched to its endpoints. In
 * this time the gateways switch to pods, and delete their entries for nodes that do not answer. An entry for
 * a node that answered at that moment would be deleted, too.
 */
const replayMs = 10_000;

const awake: IdlingDecision = { state: undefined, recheckAt: undefined };

/** Decides whether connections to a Service are held, replayed or served. */
export function decideIdling(input: IdlingInput): IdlingDecision {
  const { service, slices, now, graceMs, isEnding } = input;
  if (service === undefined) return awake;
  const uid = service.metadata?.uid;
  // Another Service of the same name does not take over the state.
  const before = input.before?.uid === uid ? input.before : undefined;
  const isMarked = hasIdledAt(service);
  const { unmarkedAt } = input;
  const isInGrace = unmarkedAt !== undefined && now < unmarkedAt + graceMs;
  if (!isMarked && !isInGrace && before === undefined) return awake;
  const { hasAll, hasAny } = readinessOf(service, slices);
  const decision = decideSwitch({ isMarked, isReady: hasAll, unmarkedAt, now, graceMs });
  if (decision.kind === 'serve') {
    const isReplayed = before?.kind === 'held' && hasAny && isReplayedAfter(before.way, service);
    const replaying = before?.kind === 'replaying' ? before : undefined;
    return isReplayed
      ? { state: { kind: 'replaying', servedAt: undefined, uid }, recheckAt: undefined }
      : replay(replaying, now);
  }
  const isAccepted = !isEnding && annotationsOf(service)[holdAnnotation] === 'accept';
  return {
    state: { kind: 'held', way: isAccepted ? 'accept' : 'park', uid },
    recheckAt: decision.kind === 'hold-until' ? decision.time : undefined,
  };
}

/** The time of a replay starts when the kernel serves the Service. */
export function startReplay(state: Replaying, now: number): IdlingDecision {
  return { state: { ...state, servedAt: now }, recheckAt: now + replayMs };
}

function replay(state: Replaying | undefined, now: number): IdlingDecision {
  if (state === undefined) return awake;
  if (state.servedAt === undefined) return { state, recheckAt: undefined };
  const end = state.servedAt + replayMs;
  return now < end ? { state, recheckAt: end } : awake;
}
