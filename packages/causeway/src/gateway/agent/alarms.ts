import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';

export const alarmMetric = {
  kind: 'gauge',
  name: 'causeway_agent_alarm',
  help: '1 while something needs an operator: see the label and the status for what.',
  labels: ['alarm'],
} as const satisfies MetricDefinition;

/**
 * - `two-masters`: another gateway sends adverts while this one is master
 * - `forged-adverts`: VRRP adverts arrive that no peer sent, and are dropped
 * - `duplicate-address`: another machine uses an address that this gateway holds
 * - `cut-off`: nothing that this gateway sends to answers it
 * - `link-down`: a link to clients or nodes is down, so this gateway serves nothing
 * - `addresses-missing`: this gateway is master and lacks addresses that it should hold
 * - `degraded`: the kernel may differ from the accepted configuration
 * - `bad-health`: this machine cannot serve, and has given up its addresses or would
 * - `removals-withheld`: frontends are still served because their removal is not confirmed
 */
export type AlarmName =
  | 'two-masters'
  | 'forged-adverts'
  | 'duplicate-address'
  | 'cut-off'
  | 'link-down'
  | 'addresses-missing'
  | 'degraded'
  | 'bad-health'
  | 'removals-withheld';

const outages: readonly AlarmName[] = ['link-down', 'bad-health'];

/** Whether an alarm, as a status lists it, says that its gateway does not serve clients. */
export function isOutage(alarm: string): boolean {
  return outages.some((name) => alarm.startsWith(`${name}: `));
}

/** What is wrong now and needs somebody to look. */
export class Alarms {
  readonly #raised = new Map<AlarmName, string>();
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #gauge;

  /** `onChange` is called when an alarm is raised or ends. */
  constructor(log: Log, metrics: Metrics, onChange: () => void = () => {}) {
    this.#log = log;
    this.#onChange = onChange;
    this.#gauge = metrics.gauge(alarmMetric);
  }

  /** Raised while there is a message, taken back without one. */
  set(name: AlarmName, message: string | undefined): void {
    const isNew = this.#raised.has(name) !== (message !== undefined);
    if (message === undefined) this.#raised.delete(name);
    else this.#raised.set(name, message);
    if (!isNew) return;
    this.#gauge.set({ alarm: name }, message === undefined ? 0 : 1);
    this.#onChange();
    if (message === undefined) this.#log.info({ alarm: name }, 'an alarm is over');
    else this.#log.error({ alarm: name }, message);
  }

  list(): string[] {
    return [...this.#raised].map(([name, message]) => `${name}: ${message}`);
  }
}
