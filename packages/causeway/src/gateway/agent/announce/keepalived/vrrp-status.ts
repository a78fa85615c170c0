import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { VrrpState } from './notify.ts';

export const vrrpMetrics = {
  state: {
    kind: 'gauge',
    name: 'causeway_agent_vrrp_state',
    help: 'The VRRP state of the gateway: 1 for the current state, 0 for the others.',
    labels: ['state'],
  },
  transitions: {
    kind: 'counter',
    name: 'causeway_agent_vrrp_transitions_total',
    help: 'How often the gateway entered each VRRP state.',
    labels: ['state'],
  },
} as const satisfies Record<string, MetricDefinition>;

/** `unknown` until keepalived's notification or the addresses on the link give a state. */
export type KnownVrrpState = VrrpState | 'unknown';

/** The gateway's VRRP state and the time of its last change. */
export class VrrpStatus {
  #state: KnownVrrpState = 'unknown';
  #since: number;
  #transitions = 0;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gauge;
  readonly #counter;
  readonly #listeners: ((state: VrrpState, before: KnownVrrpState) => void)[] = [];

  constructor(clock: Clock, log: Log, metrics: Metrics) {
    this.#clock = clock;
    this.#log = log;
    this.#since = clock.wallTime();
    this.#gauge = metrics.gauge(vrrpMetrics.state);
    this.#counter = metrics.counter(vrrpMetrics.transitions);
  }

  get state(): KnownVrrpState {
    return this.#state;
  }

  /** Unix time in milliseconds. */
  get since(): number {
    return this.#since;
  }

  /** Increases with every change: equal numbers mean that no change happened in between. */
  get transitions(): number {
    return this.#transitions;
  }

  onChange(listener: (state: VrrpState, before: KnownVrrpState) => void): void {
    this.#listeners.push(listener);
  }

  enter(state: VrrpState): void {
    const before = this.#state;
    if (state === before) return;
    this.#state = state;
    this.#since = this.#clock.wallTime();
    this.#transitions += 1;
    for (const each of ['MASTER', 'BACKUP', 'FAULT', 'STOP'] as const) {
      this.#gauge.set({ state: each }, each === state ? 1 : 0);
    }
    this.#counter.add({ state });
    this.#log.info({ state, before }, 'VRRP state changed');
    for (const listener of this.#listeners) listener(state, before);
  }
}
