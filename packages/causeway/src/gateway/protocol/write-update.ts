import type { Address } from '@causeway/base/address/address';
import type { Frontend, FrontendId } from './frontend.ts';
import type { Assignment, Policy, PolicyId } from './policy.ts';
import type { GatewayNode } from './node.ts';
import { revisions, sharesRanges } from './revision.ts';
import { RangesWriter } from './shared-ranges.ts';
import { formatAssignment, formatFrontend, formatFrontendId, formatPolicy } from './records.ts';

/** The complete configuration that a controller sends to a gateway. */
export interface StateContent {
  readonly frontends: Iterable<Frontend>;
  readonly policies: Iterable<Policy>;
  readonly assignments: Iterable<Assignment>;
  /** The nodes for frontends with a node port. */
  readonly nodes: Iterable<GatewayNode>;
}

/** The changes that a controller sends, against the agent's last known generation. */
export interface DeltaContent extends StateContent {
  readonly removedFrontends: Iterable<FrontendId>;
  readonly removedPolicies: Iterable<PolicyId>;
  readonly removedAssignments: Iterable<Address>;
  readonly removedNodes: Iterable<Address>;
}

export interface UpdateOptions {
  readonly generation: number;
  /** Confirms that a large removal is intended: each Service was seen deleted or released. */
  readonly meansRemoval?: boolean;
  /** Asks the agent to withhold all removals of the update. Only agents of revision 4 support it. */
  readonly withholdRemovals?: boolean;
  /** The UID of the sender's cluster. Only agents that withhold removals support it. */
  readonly cluster?: string | undefined;
  /** The revision to write, from `commonRevision`; the newest if it is left out. */
  readonly revision?: number;
}

/** The lines of an update that replaces everything. */
export function* writeState(content: StateContent, options: UpdateOptions): Generator<string> {
  yield header({ kind: 'state', ...options });
  yield* counted(setRecords(content, options.revision));
}

/** The lines of an update that changes the state of the generation `base`. */
export function* writeDelta(
  content: DeltaContent,
  options: UpdateOptions & { readonly base: number },
): Generator<string> {
  yield header({ kind: 'delta', ...options });
  yield* counted(deltaRecords(content, options.revision));
}

function header(fields: object): string {
  // `fields.revision`, if set, overrides the default.
  return line({ causeway: 'agent/v2', revision: revisions.newest, ...fields });
}

function* counted(records: Iterable<object>): Generator<string> {
  let count = 0;
  for (const record of records) {
    count += 1;
    yield line(record);
  }
  yield line({ end: { records: count } });
}

function* setRecords(
  content: StateContent,
  revision: number = revisions.newest,
): Generator<object> {
  const ranges = new RangesWriter();
  for (const { address } of content.nodes) yield { node: { address } };
  for (const frontend of content.frontends) {
    const before = revision >= sharesRanges ? ranges.before(frontend) : undefined;
    if (before !== undefined) yield before;
    yield { frontend: formatFrontend(frontend, revision) };
  }
  for (const policy of content.policies) yield { policy: formatPolicy(policy) };
  for (const assignment of content.assignments) yield { assignment: formatAssignment(assignment) };
}

function* deltaRecords(content: DeltaContent, revision?: number): Generator<object> {
  yield* setRecords(content, revision);
  for (const id of content.removedFrontends) yield { removeFrontend: formatFrontendId(id) };
  for (const { namespace, name } of content.removedPolicies) {
    yield { removePolicy: { namespace, name } };
  }
  for (const address of content.removedAssignments) yield { removeAssignment: { address } };
  for (const address of content.removedNodes) yield { removeNode: { address } };
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
