import { z } from 'zod';
import type { Address } from '@causeway/base/address/address';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { fromLegacyKind } from './legacy.ts';
import { frontendKey, type Frontend, type FrontendId, type FrontendKey } from './frontend.ts';
import type { GatewayNode } from './node.ts';
import { policyKey, type Assignment, type Policy, type PolicyKey } from './policy.ts';
import { describeProblem, describeWithoutQuotes, type Rejection } from './rejection.ts';
import { RecordConflicts } from './record-conflicts.ts';
import { RangesReader } from './shared-ranges.ts';
import { revisions, sharesRanges, understands, type Revisions } from './revision.ts';
import {
  frontendIdOf,
  parseAddressRecord,
  parseAssignment,
  parseFrontend,
  parseFrontendId,
  parsePolicy,
  parsePolicyId,
} from './records.ts';

export interface UpdateHeader {
  /** `state` replaces everything; `delta` changes the state of exactly the generation `base`. */
  readonly kind: 'state' | 'delta';
  readonly generation: number;
  readonly base: number | undefined;
  /** The sender confirms that a large removal is intended. */
  readonly meansRemoval: boolean;
  /** The UID of the sender's cluster. */
  readonly cluster: string | undefined;
  /** Set if the sender may not know its cluster yet, so that an update without any frontend proves nothing. */
  readonly isEmptyInDoubt?: boolean;
}

/** A parsed request: its valid records, and the errors of the others. */
export interface Update {
  readonly header: UpdateHeader;
  readonly frontends: ReadonlyMap<FrontendKey, Frontend>;
  readonly policies: ReadonlyMap<PolicyKey, Policy>;
  readonly assignments: ReadonlyMap<Address, Assignment>;
  readonly nodes: ReadonlyMap<Address, GatewayNode>;
  readonly removedFrontends: ReadonlySet<FrontendKey>;
  readonly removedPolicies: ReadonlySet<PolicyKey>;
  readonly removedAssignments: ReadonlySet<Address>;
  readonly removedNodes: ReadonlySet<Address>;
  /** Frontends with invalid records. They keep their previous record. */
  readonly badFrontends: ReadonlyMap<FrontendKey, string>;
  /** Records with an unknown frontend. */
  readonly unreadable: UnreadableFrontends;
  readonly badPolicies: ReadonlySet<PolicyKey>;
  readonly badAssignments: ReadonlySet<Address>;
  readonly complaints: readonly Rejection[];
}

/** Frontends that such records may refer to are kept: those of these addresses, or all. */
export interface UnreadableFrontends {
  readonly addresses: ReadonlySet<Address>;
  readonly anywhere: boolean;
}

const generationNumber = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

/** A cluster's UID, as the controller reads it from the namespace kube-system. */
export const clusterText = z
  .string()
  .max(100)
  .regex(/^[\x21-\x7e]+$/, 'is not a UID');

const headerRecord = z.strictObject({
  causeway: z.literal('agent/v2'),
  revision: z.number().int(),
  kind: z.enum(['state', 'delta']),
  generation: generationNumber,
  base: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  meansRemoval: z.boolean().optional(),
  cluster: clusterText.optional(),
});

const trailerRecord = z.strictObject({ end: z.strictObject({ records: z.number().int().min(0) }) });

/**
 * Reads an update line by line: a header, any number of records, a trailer with their count. An error in one
 * record affects only that record. An incomplete request is rejected.
 */
export class UpdateReader {
  #header: UpdateHeader | undefined;
  #revision = revisions.oldest;
  readonly #known: Revisions;
  #ended = false;
  #records = 0;
  readonly #ranges = new RangesReader();
  readonly #frontends = new RecordConflicts<FrontendKey, Frontend>();
  readonly #policies = new RecordConflicts<PolicyKey, Policy>();
  readonly #assignments = new RecordConflicts<Address, Assignment>();
  readonly #nodes = new RecordConflicts<Address, GatewayNode>();
  readonly #badFrontends = new Map<FrontendKey, string>();
  readonly #unreadable = { addresses: new Set<Address>(), anywhere: false };
  readonly #badPolicies = new Set<PolicyKey>();
  readonly #badAssignments = new Set<Address>();
  readonly #complaints: Rejection[] = [];

  /** Reads the revisions in `known`; by default, those of this version. */
  constructor(known: Revisions = revisions) {
    this.#known = known;
  }

  line(text: string): void {
    if (this.#ended) throw refused('the request continues after its end record');
    const value = parseJson(text);
    if (this.#header === undefined) {
      ({ header: this.#header, revision: this.#revision } = parseHeader(value, this.#known));
      return;
    }
    if ('end' in value) {
      this.#finish(value);
      return;
    }
    this.#records += 1;
    this.#record(value);
  }

  result(): Update {
    if (this.#header === undefined || !this.#ended) {
      throw refused(
        'the request ends before its end record',
        'It was probably truncated; send it again.',
      );
    }
    return {
      header: this.#header,
      frontends: this.#frontends.values,
      policies: this.#policies.values,
      assignments: this.#assignments.values,
      nodes: this.#nodes.values,
      removedFrontends: this.#frontends.removed,
      removedPolicies: this.#policies.removed,
      removedAssignments: this.#assignments.removed,
      removedNodes: this.#nodes.removed,
      badFrontends: this.#badFrontends,
      unreadable: this.#unreadable,
      badPolicies: this.#badPolicies,
      badAssignments: this.#badAssignments,
      complaints: this.#complaints,
    };
  }

  #finish(value: object): void {
    const trailer = trailerRecord.safeParse(value);
    if (!trailer.success) throw refused('the end record is invalid');
    if (trailer.data.end.records !== this.#records) {
      throw refused(
        `the request says it has ${trailer.data.end.records} records and has ${this.#records}`,
      );
    }
    this.#ended = true;
  }

  #record(value: object): void {
    const [[written, body] = ['', undefined], ...others] = Object.entries(value) as [
      string,
      unknown,
    ][];
    const kind = fromLegacyKind(written);
    const isDelta = this.#header?.kind === 'delta';
    if (others.length > 0) this.#complain(undefined, 'a record has exactly one kind');
    else if (kind === 'frontend') this.#frontend(body);
    else if (kind === 'ranges' && this.#revision >= sharesRanges) this.#addRanges(body);
    else if (kind === 'policy') this.#policy(body);
    else if (kind === 'assignment') this.#assignment(body);
    else if (kind === 'node') this.#node(body);
    else if (isDelta && kind === 'removeFrontend') this.#removeFrontend(body);
    else if (isDelta && kind === 'removePolicy') this.#removePolicy(body);
    else if (isDelta && kind === 'removeAssignment') this.#removeAssignment(body);
    else if (isDelta && kind === 'removeNode') this.#removeNode(body);
    else {
      const problem = new Error(`${JSON.stringify(kind)} is not a supported kind of record`);
      this.#complain(undefined, describeProblem(problem));
    }
  }

  #frontend(body: unknown): void {
    try {
      const frontend = parseFrontend(body, this.#ranges, this.#revision);
      this.#frontends.set(frontendKey(frontend), frontend);
    } catch (thrown) {
      this.#badFrontend(frontendIdOf(body), body, thrown);
    }
  }

  /**
   * If the ranges are invalid, every frontend that names them is invalid too and keeps its previous record.
   */
  #addRanges(body: unknown): void {
    this.#attempt(() => this.#ranges.add(body));
  }

  #badFrontend(id: FrontendId | undefined, body: unknown, thrown: unknown): void {
    const reason = isConflict(thrown) ? ambiguous : describeWithoutQuotes(thrown);
    if (id === undefined) this.#noteUnreadable(body);
    else this.#badFrontends.set(frontendKey(id), reason);
    this.#complain(id, describeProblem(thrown));
  }

  #noteUnreadable(body: unknown): void {
    const address = addressOf(body);
    if (address === undefined) this.#unreadable.anywhere = true;
    else this.#unreadable.addresses.add(address);
  }

  #policy(body: unknown): void {
    try {
      const policy = parsePolicy(body);
      this.#policies.set(policyKey(policy), policy);
    } catch (thrown) {
      this.#badPolicy(body, thrown);
    }
  }

  #badPolicy(body: unknown, thrown: unknown): void {
    const key = tryParse(() => policyKey(parsePolicyId(pick(body, ['namespace', 'name']))));
    if (key !== undefined) this.#badPolicies.add(key);
    this.#complain(undefined, describeProblem(thrown));
  }

  #assignment(body: unknown): void {
    try {
      const assignment = parseAssignment(body);
      this.#assignments.set(assignment.address, assignment);
    } catch (thrown) {
      this.#badAssignment(body, thrown);
    }
  }

  #badAssignment(body: unknown, thrown: unknown): void {
    const address = addressOf(body);
    if (address !== undefined) this.#badAssignments.add(address);
    this.#complain(undefined, describeProblem(thrown));
  }

  #removeFrontend(body: unknown): void {
    try {
      this.#frontends.remove(frontendKey(parseFrontendId(body)));
    } catch (thrown) {
      this.#badFrontend(frontendIdOf(body), body, thrown);
    }
  }

  #removePolicy(body: unknown): void {
    try {
      this.#policies.remove(policyKey(parsePolicyId(body)));
    } catch (thrown) {
      this.#badPolicy(body, thrown);
    }
  }

  #removeAssignment(body: unknown): void {
    try {
      this.#assignments.remove(parseAddressRecord(body));
    } catch (thrown) {
      // In a conflict, another record restricts the pod, so the pod is closed. Otherwise it is not.
      if (isConflict(thrown)) this.#badAssignment(body, thrown);
      else this.#complain(undefined, describeProblem(thrown));
    }
  }

  #node(body: unknown): void {
    this.#attempt(() => {
      const address = parseAddressRecord(body);
      // Two records of the same node can't conflict.
      if (!this.#nodes.values.has(address)) this.#nodes.set(address, { address });
    });
  }

  #removeNode(body: unknown): void {
    this.#attempt(() => this.#nodes.remove(parseAddressRecord(body)));
  }

  #attempt(work: () => unknown): void {
    try {
      work();
    } catch (thrown) {
      this.#complain(undefined, describeProblem(thrown));
    }
  }

  #complain(frontend: FrontendId | undefined, message: string): void {
    this.#complaints.push({ frontend, record: this.#records, message });
  }
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof CausewayError && thrown.code === 'conflict';
}

function addressOf(body: unknown): Address | undefined {
  return tryParse(() => parseAddress(z.object({ address: z.string() }).parse(body).address));
}

const ambiguous = 'appears more than once in the request';

function parseJson(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below without the parser's message, which would quote the request.
  }
  throw refused('a line of the request is not a JSON object');
}

function parseHeader(value: object, known: Revisions): { header: UpdateHeader; revision: number } {
  const revision = z.object({ revision: z.number() }).safeParse(value);
  if (revision.success && !understands(known, revision.data.revision)) {
    throw new CausewayError(
      'unsupported',
      `this agent supports the revisions ${known.oldest} to ${known.newest} of /v2`,
      { hint: "Send a revision that the agent's status lists." },
    );
  }
  const header = headerRecord.safeParse(value);
  if (!header.success) throw refused(`the header is invalid: ${describeProblem(header.error)}`);
  const { kind, generation, base, meansRemoval, cluster } = header.data;
  if ((kind === 'delta') !== (base !== undefined)) {
    throw refused('a base is required for a delta, and not allowed otherwise');
  }
  return {
    header: { kind, generation, base, meansRemoval: meansRemoval ?? false, cluster },
    revision: header.data.revision,
  };
}

function refused(message: string, hint?: string): CausewayError {
  return new CausewayError('invalid', message, hint === undefined ? {} : { hint });
}

function tryParse<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function pick(value: unknown, names: readonly string[]): object {
  const entries = Object.entries(value ?? {}) as [string, unknown][];
  return Object.fromEntries(entries.filter(([name]) => names.includes(name)));
}
