import { z } from 'zod';
import { roles } from './role.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Acknowledgement } from './acknowledgement.ts';
import type { AgentStatus, FrontendCount } from './agent-status.ts';
import type { TraceAnswer } from './trace.ts';

// Schemas for the used parts of an agent's answers. A gateway is outside of the cluster and may be
// compromised. Its answers are checked here, so that they can't harm anything except itself.

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/**
 * The controller exceeds the generation of each gateway and sends the result to all others. A gateway with
 * the largest possible number would leave none for the others.
 */
const largestGeneration = 2 ** 52;
const generation = z.number().int().min(0).max(largestGeneration);
const text = z.string().max(10_000);
const texts = z.array(text);
const frontendId = z.looseObject({ address: text, protocol: text, port: z.number() });
const older = z.array(frontendId.extend({ generation, reason: text }));
const withheld = z
  .array(frontendId.extend({ generation, reason: text, service: text.optional() }))
  .optional();
const errors = z.array(
  z.looseObject({
    frontend: frontendId.nullable(),
    errors: z.array(z.looseObject({ record: z.number(), message: text })),
  }),
);
const override = z.looseObject({ since: z.number(), reason: text }).nullable();

const status = z.looseObject({
  agent: text,
  version: text,
  revisions: z.looseObject({ oldest: count, newest: count }),
  generation,
  frontends: count,
  older,
  withheld,
  errors,
  notFailoverSafe: z.array(frontendId),
  pins: z.looseObject({ epoch: text, count }).optional(),
  sound: z.boolean(),
  announcer: z.looseObject({
    role: z.enum(roles).catch('unknown'),
    since: text.nullable(),
    reason: text.nullable(),
  }),
  frozen: override,
  drained: override,
  removal: override.optional(),
  seed: text.optional(),
  undoSteps: count,
  unhealthy: z.looseObject({ heard: count, seen: texts, acted: texts }),
  alarms: texts,
  kernelSettings: z.array(z.looseObject({})),
  connections: z.looseObject({ count: z.number(), limit: z.number() }).nullable(),
});

const acknowledgement = z.looseObject({
  generation,
  committed: z.boolean(),
  older,
  withheld,
  errors,
});

const counters = z.looseObject({
  frontends: z.array(
    frontendId.extend({
      service: text.optional(),
      connections: text,
      packets: text.optional(),
    }),
  ),
});

const trace = z.looseObject({
  outcome: z.enum(['forwarded', 'sent-unchanged', 'dropped', 'rejected', 'not-served']),
  because: text,
  servedAs: text,
  destination: text,
  isSourceKept: z.boolean(),
  others: texts,
  unhealthy: texts,
  steps: z.array(z.looseObject({ chain: text, rule: text })),
});

export function readStatus(value: unknown): AgentStatus {
  return read(status, value, 'status') as unknown as AgentStatus;
}

export function readAcknowledgement(value: unknown): Acknowledgement {
  return read(acknowledgement, value, 'acknowledgement') as unknown as Acknowledgement;
}

export function readCounters(value: unknown): readonly FrontendCount[] {
  return read(counters, value, 'list of counters').frontends as unknown as FrontendCount[];
}

export function readTrace(value: unknown): TraceAnswer {
  return read(trace, value, 'trace');
}

const refusal = z.looseObject({
  error: z.looseObject({
    reason: text.optional(),
    message: text.optional(),
    hint: text.optional(),
  }),
});

/** The agent's reason for a rejection; empty if it can't be read. */
export function readRefusal(value: unknown): {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly hint?: string | undefined;
} {
  return refusal.safeParse(value).data?.error ?? {};
}

function read<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.map(String).join('.') || 'the top level';
  throw new CausewayError('unavailable', `the agent's ${what} is invalid at ${where}`, {
    hint: "Check that the agent's version is compatible and that it is the right agent.",
  });
}
