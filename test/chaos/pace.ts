import type { Ground } from './fault-kinds.ts';

/** How often everybody looks. What is looked at must not be slow because of it. */
export interface Pace {
  readonly driftSeconds: number;
  /** Of the gateway provider, at its ports. */
  readonly resyncSeconds: number;
  readonly discoverySeconds: number;
  /** Of the observer, and how long he waits for an answer. */
  readonly observeMs: number;
  readonly answerMs: number;
}

export const paces: Readonly<Record<Ground, Pace>> = {
  embedded: {
    driftSeconds: 10,
    resyncSeconds: 5,
    discoverySeconds: 3,
    observeMs: 1_000,
    answerMs: 10_000,
  },
  // Each request to Neutron or Octavia takes a tenth of a second of a core, on a machine that has two.
  real: {
    driftSeconds: 30,
    resyncSeconds: 15,
    discoverySeconds: 10,
    observeMs: 4_000,
    answerMs: 60_000,
  },
};
