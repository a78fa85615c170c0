import type { Family } from '@causeway/base/address/address';

/** What a client of a Service gets. docs/health.md describes the states. */
export const healthStates = [
  'serving',
  'degraded',
  'no-endpoints',
  'idle',
  'pending',
  'not-served',
  'unknown',
  'deleting',
  'internal',
] as const;

export type HealthState = (typeof healthStates)[number];

/** The codes of causes, in the order of their precedence. */
export const causeCodes = [
  'record-unreadable',
  'no-controller',
  'controller-hung',
  'no-provider',
  'refused',
  'no-gateway',
  'no-able-gateway',
  'no-active-gateway',
  'gateways-not-answering',
  'facts-stale',
  'cut-off',
  'rejected',
  'backends-unhealthy',
  'no-endpoints',
  'endpoints-draining',
  'pending',
  'unconfirmed',
  'role-not-reported',
  'no-redundancy',
  'foreign',
  'idle',
  'deleting',
] as const;

export type CauseCode = (typeof causeCodes)[number];

export interface Cause {
  readonly code: CauseCode;
  readonly message: string;
  /** In milliseconds of wall time; undefined if not known. */
  readonly since: number | undefined;
  /** What an operator or user can do. */
  readonly remedy: string;
  readonly gateway?: string;
  readonly family?: Family;
}

/** A state with its causes, the most important one first. */
export interface Verdict {
  readonly state: HealthState;
  readonly causes: readonly Cause[];
}

/** Sorts causes by precedence, and drops repeated ones. */
export function rankCauses(causes: readonly Cause[]): readonly Cause[] {
  const seen = new Set<string>();
  return causes
    .filter(({ code, message }) => {
      const text = `${code} ${message}`;
      return !seen.has(text) && seen.add(text);
    })
    .sort((left, right) => causeCodes.indexOf(left.code) - causeCodes.indexOf(right.code));
}

/** A Service that is prepared or released for longer than this has a problem. */
const limitsMs = { pending: 60_000, deleting: 300_000 } as const;

/** Whether an operator should act. */
export function isProblem({ state, causes }: Verdict, now: number): boolean {
  switch (state) {
    case 'serving':
    case 'idle':
    case 'internal':
      return false;
    case 'degraded':
    case 'no-endpoints':
    case 'not-served':
    case 'unknown':
      return true;
    case 'pending':
    case 'deleting': {
      const own = causes.find(({ code }) => code === state);
      const hasOther = causes.some(({ code }) => code !== state);
      const since = own?.since;
      return hasOther || since === undefined || now - since > limitsMs[state];
    }
  }
}
