import { isDeepStrictEqual } from 'node:util';
import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  parseFrontendKey,
  sameFrontend,
  type Frontend,
  type FrontendKey,
} from '../../protocol/frontend.ts';
import type { Assignment } from '../../protocol/policy.ts';
import type { Change, Edits, GatewayState, Kept } from '../store/state.ts';
import type { Rejection } from '../../protocol/rejection.ts';
import type { Update } from '../../protocol/update.ts';
import { keepNeeds } from './withheld-needs.ts';
import { applyDecision, decideRemovals, withheldNotes, type RemovalLimits } from './withhold.ts';

/** The decision on an update. */
export type Admission =
  | { readonly verdict: 'repeated' }
  | {
      readonly verdict: 'admitted';
      readonly change: Change;
      readonly complaints: readonly Rejection[];
      /** The update uses the operator's permission to remove, which applies to one update. */
      readonly usesPermission: boolean;
    };

/** A well-formed update that can't be accepted. Controllers act on the reason. */
export class UpdateRejected extends CausewayError {
  readonly reason: 'stale' | 'base-mismatch' | 'another-cluster' | 'frozen';

  constructor(reason: UpdateRejected['reason'], message: string, hint: string) {
    super('conflict', message, { hint });
    this.reason = reason;
  }
}

/** Computes the changes of an update. Pure: it only reads the state, and a commit applies the change. */
export function admit(
  state: GatewayState,
  push: Update,
  digest: string,
  limits: RemovalLimits,
): Admission {
  const { header } = push;
  if (header.generation === state.generation && digest === state.digest) {
    return { verdict: 'repeated' };
  }
  refuseStale(state, push);
  const bad = badFrontends(state, push);
  const asked = new Map(frontendEdits(state, push, bad));
  const removed = new Set([...asked.keys()].filter((key) => asked.get(key) === undefined));
  const isWanted = (key: FrontendKey) => push.frontends.has(key) || bad.has(key);
  const decision = decideRemovals(state, push, removed, isWanted, limits);
  const { withheld, usesPermission } = decision;
  const frontends = applyDecision(asked, decision);
  const kept = new Map([
    ...keptEdits(state, push, bad, frontends),
    ...withheldNotes(state, decision),
  ]);
  const others = keepNeeds(state, push, withheld, {
    policies: edits(push, state.policies, push.policies, push.removedPolicies, push.badPolicies),
    assignments: assignmentEdits(state, push),
    nodes: edits(push, state.nodes, push.nodes, push.removedNodes, new Set()),
  });
  return {
    verdict: 'admitted',
    usesPermission,
    complaints: [...push.complaints, ...collisions(state, push), ...closings(state, push)],
    change: {
      generation: header.generation,
      digest,
      frontends,
      ...others,
      kept,
      cluster: clusterAfter(state, push, withheld),
    },
  };
}

/**
 * The cluster that the gateway serves after the update. While removals are withheld, it is the cluster that
 * the frontends came from, so that the controller of another cluster can't confirm them.
 */
function clusterAfter(
  state: GatewayState,
  { header }: Update,
  withheld: ReadonlySet<FrontendKey>,
): string | undefined {
  return state.cluster !== undefined && withheld.size > 0 ? state.cluster : header.cluster;
}

function refuseStale(state: GatewayState, push: Update): void {
  const { generation, base } = push.header;
  if (generation <= state.generation) {
    throw new UpdateRejected(
      'stale',
      `generation ${generation} is not newer than ${state.generation}, which is served`,
      'Read the status and send the full state under a larger generation.',
    );
  }
  if (base !== undefined && base !== state.generation) {
    throw new UpdateRejected(
      'base-mismatch',
      `the delta is against generation ${base}, but ${state.generation} is served`,
      'Send the full state.',
    );
  }
}

/** Frontends with a wrong record. In a full state, also frontends that an unreadable record may refer to. */
function badFrontends(state: GatewayState, push: Update): ReadonlyMap<FrontendKey, string> {
  const { addresses, anywhere } = push.unreadable;
  if (push.header.kind === 'delta' || (addresses.size === 0 && !anywhere)) return push.badFrontends;
  const bad = new Map(push.badFrontends);
  for (const [key, { address }] of state.frontends) {
    if (push.frontends.has(key) || bad.has(key)) continue;
    if (anywhere || addresses.has(address)) bad.set(key, 'an unreadable record may refer to it');
  }
  return bad;
}

function* frontendEdits(
  state: GatewayState,
  push: Update,
  bad: ReadonlyMap<FrontendKey, string>,
): Generator<[FrontendKey, Frontend | undefined]> {
  for (const [key, frontend] of push.frontends) {
    const before = state.frontends.get(key);
    if (before === undefined || !sameFrontend(before, frontend)) yield [key, frontend];
  }
  if (push.header.kind === 'delta') {
    for (const key of push.removedFrontends) {
      if (state.frontends.has(key)) yield [key, undefined];
    }
    return;
  }
  for (const key of state.frontends.keys()) {
    if (!push.frontends.has(key) && !bad.has(key)) yield [key, undefined];
  }
}

/** Frontends that are served from an older update from now on (set), or no longer (undefined). */
function keptEdits(
  state: GatewayState,
  push: Update,
  bad: ReadonlyMap<FrontendKey, string>,
  frontends: Edits<FrontendKey, Frontend>,
): Edits<FrontendKey, Kept> {
  const kept = new Map<FrontendKey, Kept | undefined>();
  for (const key of state.kept.keys()) {
    if (push.frontends.has(key) || (frontends.has(key) && frontends.get(key) === undefined)) {
      kept.set(key, undefined);
    }
  }
  for (const [key, reason] of bad) {
    if (push.frontends.has(key) || !state.frontends.has(key)) continue;
    const generation = state.kept.get(key)?.generation ?? state.generation;
    const before = state.kept.get(key);
    if (before?.reason !== reason) kept.set(key, { generation, reason });
  }
  return kept;
}

/** Reports a bad record if a valid record has the same frontend. The valid record wins. */
function* collisions(state: GatewayState, push: Update): Generator<Rejection> {
  for (const key of push.badFrontends.keys()) {
    if (push.frontends.has(key) && state.frontends.has(key)) {
      yield {
        frontend: parseFrontendKey(key),
        record: 0,
        message: 'the previously served frontend is dropped: another record of the request has it',
      };
    }
  }
}

function assignmentEdits(state: GatewayState, push: Update): Edits<Address, Assignment> {
  const { assignments, removedAssignments, badAssignments } = push;
  const result = edits(push, state.assignments, assignments, removedAssignments, badAssignments);
  const closed = closedPods(state, push).map(
    (address) => [address, { address, policies: [], namedPorts: [] }] as const,
  );
  return new Map([...result, ...closed]);
}

/**
 * Pods with a wrong record and no previous assignment. The record was meant to restrict the pod, so the pod
 * is selected and nothing is allowed: an unreadable record must not open a pod.
 */
function closedPods(state: GatewayState, push: Update): Address[] {
  return [...push.badAssignments].filter(
    (address) => !push.assignments.has(address) && !state.assignments.has(address),
  );
}

function closings(state: GatewayState, push: Update): Rejection[] {
  return closedPods(state, push).map((address) => ({
    frontend: undefined,
    record: 0,
    message: `the pod ${address} is closed to all clients until its assignment can be read`,
  }));
}

function edits<Key, Value>(
  push: Update,
  before: ReadonlyMap<Key, Value>,
  wanted: ReadonlyMap<Key, Value>,
  removed: ReadonlySet<Key>,
  bad: ReadonlySet<Key>,
): Edits<Key, Value> {
  const result = new Map<Key, Value | undefined>();
  for (const [key, value] of wanted) {
    if (!isDeepStrictEqual(before.get(key), value)) result.set(key, value);
  }
  const gone = push.header.kind === 'delta' ? removed : before.keys();
  for (const key of gone) {
    if (before.has(key) && !wanted.has(key) && !bad.has(key)) result.set(key, undefined);
  }
  return result;
}
