import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { frontendKey, type Frontend, type FrontendKey } from '../../protocol/frontend.ts';
import { policyKey, type Assignment, type Policy, type PolicyKey } from '../../protocol/policy.ts';
import type { Change, Kept } from './state.ts';
import type { GatewayNode } from '../../protocol/node.ts';
import {
  formatAssignment,
  formatFrontend,
  formatPolicy,
  parseAssignment,
  parseFrontend,
  parsePolicy,
  parsePolicyId,
  storedFrontendKey,
} from '../../protocol/records.ts';
import { fromLegacyKind } from '../../protocol/legacy.ts';
import { RangesReader, RangesWriter } from '../../protocol/shared-ranges.ts';

/** One accepted step as stored in the file: the change and its undo. */
export interface Step {
  readonly change: Change;
  /** Undefined in a snapshot and after an undo. */
  readonly undo: Change | undefined;
  /** Number of earlier steps that this step undoes. */
  readonly undoes: number;
}

type Direction = 'change' | 'undo';

/** A step as lines. The last line has a checksum; a step without it is incomplete. */
export function* writeStep(step: Step): Generator<string> {
  const sum = new Checksum();
  const { change, undo, undoes } = step;
  yield sum.line({
    step: {
      generation: change.generation,
      digest: change.digest,
      undoes,
      ...(change.cluster === undefined ? {} : { cluster: change.cluster }),
      ...(undo === undefined ? {} : { undo: { generation: undo.generation } }),
    },
  });
  for (const record of changeRecords('change', change)) yield sum.line(record);
  if (undo !== undefined) for (const record of changeRecords('undo', undo)) yield sum.line(record);
  yield `${JSON.stringify({ end: sum.value })}\n`;
}

function* changeRecords(direction: Direction, change: Change): Generator<object> {
  const ranges = new RangesWriter();
  for (const [key, value] of change.frontends) {
    const before = value === undefined ? undefined : ranges.before(value);
    if (before !== undefined) yield { [direction]: before };
    yield {
      [direction]: value === undefined ? { noFrontend: key } : { frontend: formatFrontend(value) },
    };
  }
  for (const [key, value] of change.policies) {
    yield {
      [direction]: value === undefined ? { noPolicy: key } : { policy: formatPolicy(value) },
    };
  }
  for (const [key, value] of change.assignments) {
    yield {
      [direction]:
        value === undefined ? { noAssignment: key } : { assignment: formatAssignment(value) },
    };
  }
  for (const [key, value] of change.nodes) {
    yield { [direction]: value === undefined ? { noNode: key } : { node: key } };
  }
  for (const [key, value] of change.kept) {
    yield { [direction]: value === undefined ? { notKept: key } : { kept: { key, ...value } } };
  }
}

class Checksum {
  value = 0;

  line(value: object): string {
    const text = `${JSON.stringify(value)}\n`;
    this.add(text);
    return text;
  }

  add(text: string): void {
    this.value = crc32(text, this.value);
  }
}

const stepHeader = z.object({
  step: z.object({
    generation: z.number(),
    digest: z.string(),
    undoes: z.number(),
    cluster: z.string().optional(),
    undo: z.object({ generation: z.number() }).optional(),
  }),
});
const storedKept = z.object({
  key: z.string(),
  generation: z.number(),
  reason: z.string(),
  isWithheld: z.boolean().optional(),
});

/** Assembles a step from its lines. Throws `invalid` if they were changed. */
export class StepReader {
  #sum = new Checksum();
  #header: z.infer<typeof stepHeader>['step'] | undefined;
  #change = new ChangeBuilder();
  #undo = new ChangeBuilder();

  /** Returns the step with its last line, and undefined before. */
  line(text: string): Step | undefined {
    const value = parseLine(text);
    if (this.#header === undefined) {
      this.#header = stepHeader.parse(value).step;
    } else if ('end' in value) {
      if (value['end'] !== this.#sum.value) throw damaged('its checksum is wrong');
      return this.#finish(this.#header);
    } else if ('change' in value) {
      this.#change.add(value['change']);
    } else if ('undo' in value) {
      this.#undo.add(value['undo']);
    } else {
      throw damaged('it has a line that does not belong to it');
    }
    this.#sum.add(`${text}\n`);
    return undefined;
  }

  /** Whether a step has started but not ended. */
  get midway(): boolean {
    return this.#header !== undefined;
  }

  #finish(header: z.infer<typeof stepHeader>['step']): Step {
    const step: Step = {
      change: {
        ...this.#change.build(header.generation, header.digest),
        ...(header.cluster === undefined ? {} : { cluster: header.cluster }),
      },
      undo: header.undo === undefined ? undefined : this.#undo.build(header.undo.generation, ''),
      undoes: header.undoes,
    };
    this.#sum = new Checksum();
    this.#header = undefined;
    this.#change = new ChangeBuilder();
    this.#undo = new ChangeBuilder();
    return step;
  }
}

class ChangeBuilder {
  readonly #ranges = new RangesReader();
  readonly #frontends = new Map<FrontendKey, Frontend | undefined>();
  readonly #policies = new Map<PolicyKey, Policy | undefined>();
  readonly #assignments = new Map<Address, Assignment | undefined>();
  readonly #nodes = new Map<Address, GatewayNode | undefined>();
  readonly #kept = new Map<FrontendKey, Kept | undefined>();

  add(record: unknown): void {
    const [[written, body] = ['', undefined]] = Object.entries(record ?? {}) as [string, unknown][];
    const kind = fromLegacyKind(written);
    switch (kind) {
      case 'frontend': {
        const frontend = parseFrontend(body, this.#ranges);
        this.#frontends.set(frontendKey(frontend), frontend);
        return;
      }
      case 'ranges':
        this.#ranges.add(body);
        return;
      case 'noFrontend':
        this.#frontends.set(storedFrontendKey(z.string().parse(body)), undefined);
        return;
      case 'policy': {
        const policy = parsePolicy(body);
        this.#policies.set(policyKey(policy), policy);
        return;
      }
      case 'noPolicy':
        this.#policies.set(storedPolicyKey(z.string().parse(body)), undefined);
        return;
      case 'assignment': {
        const assignment = parseAssignment(body);
        this.#assignments.set(assignment.address, assignment);
        return;
      }
      case 'noAssignment':
        this.#assignments.set(parseAddress(z.string().parse(body)), undefined);
        return;
      case 'node': {
        const address = parseAddress(z.string().parse(body));
        this.#nodes.set(address, { address });
        return;
      }
      case 'noNode':
        this.#nodes.set(parseAddress(z.string().parse(body)), undefined);
        return;
      case 'kept': {
        const { key, generation, reason, isWithheld } = storedKept.parse(body);
        const kept = { generation, reason };
        this.#kept.set(
          storedFrontendKey(key),
          isWithheld === undefined ? kept : { ...kept, isWithheld },
        );
        return;
      }
      case 'notKept':
        this.#kept.set(storedFrontendKey(z.string().parse(body)), undefined);
        return;
      default:
        throw damaged(`it has a record of the unknown kind ${JSON.stringify(kind)}`);
    }
  }

  build(generation: number, digest: string): Change {
    return {
      generation,
      digest,
      frontends: this.#frontends,
      policies: this.#policies,
      assignments: this.#assignments,
      nodes: this.#nodes,
      kept: this.#kept,
    };
  }
}

function storedPolicyKey(text: string): PolicyKey {
  const slash = text.indexOf('/');
  return policyKey(parsePolicyId({ namespace: text.slice(0, slash), name: text.slice(slash + 1) }));
}

function parseLine(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw damaged('a line is not an object');
  return value as Record<string, unknown>;
}

function damaged(what: string): CausewayError {
  return new CausewayError('invalid', `a stored step can't be read: ${what}`);
}
