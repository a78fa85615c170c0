import type { Ground } from './fault-kinds.ts';

/** Intervals of all checks. The checks must not slow down the system. */
export interface Pace {
  readonly driftSeconds: number;
  /** Resync interval of the gateway provider. */
  readonly resyncSeconds: number;
  readonly discoverySeconds: number;
  /** Interval of the observer, and its timeout. */
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
  // Each request to Neutron or Octavia takes a tenth of a second of a core, and the machine has two cores.
  real: {
    driftSeconds: 30,
    resyncSeconds: 15,
    discoverySeconds: 10,
    observeMs: 4_000,
    answerMs: 60_000,
  },
};
