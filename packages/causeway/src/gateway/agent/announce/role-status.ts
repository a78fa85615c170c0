import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { Role } from '../../protocol/role.ts';

export const roleMetrics = {
  role: {
    kind: 'gauge',
    name: 'causeway_agent_role',
    help: 'The role of the gateway: 1 for the current role, 0 for the others.',
    labels: ['role'],
  },
  changes: {
    kind: 'counter',
    name: 'causeway_agent_role_changes_total',
    help: 'How often the gateway entered each role.',
    labels: ['role'],
  },
} as const satisfies Record<string, MetricDefinition>;

/** A role that an announcer can report. */
export type AnnouncedRole = Extract<Role, 'active' | 'standby' | 'unable'>;

const announcedRoles: readonly AnnouncedRole[] = ['active', 'standby', 'unable'];

export type RoleListener = (role: AnnouncedRole, before: Role) => void;

/** The gateway's role and the time of its last change. The role is `unknown` until the first report. */
export class RoleStatus {
  #role: Role = 'unknown';
  #reason: string | undefined;
  #since: number;
  #changes = 0;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gauge;
  readonly #counter;
  readonly #listeners: RoleListener[] = [];

  constructor(clock: Clock, log: Log, metrics: Metrics) {
    this.#clock = clock;
    this.#log = log;
    this.#since = clock.wallTime();
    this.#gauge = metrics.gauge(roleMetrics.role);
    this.#counter = metrics.counter(roleMetrics.changes);
  }

  get role(): Role {
    return this.#role;
  }

  get isActive(): boolean {
    return this.#role === 'active';
  }

  /** Why the gateway is unable to become active. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Unix time in milliseconds. */
  get since(): number {
    return this.#since;
  }

  /** Increases with every change: equal numbers mean that no change happened in between. */
  get changes(): number {
    return this.#changes;
  }

  onChange(listener: RoleListener): void {
    this.#listeners.push(listener);
  }

  enter(role: 'active' | 'standby'): void;
  enter(role: 'unable', reason: string): void;
  enter(role: AnnouncedRole, reason?: string): void {
    const before = this.#role;
    this.#reason = reason;
    if (role === before) return;
    this.#role = role;
    this.#since = this.#clock.wallTime();
    this.#changes += 1;
    for (const each of announcedRoles) this.#gauge.set({ role: each }, each === role ? 1 : 0);
    this.#counter.add({ role });
    this.#log.info({ role, before, reason }, 'the role of the gateway changed');
    for (const listener of this.#listeners) listener(role, before);
  }
}
