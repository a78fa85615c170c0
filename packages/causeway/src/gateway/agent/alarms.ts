import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { AlarmName } from '../protocol/alarm.ts';
import type { AnnouncerAlarm } from './announce/alarms.ts';

export const alarmMetric = {
  kind: 'gauge',
  name: 'causeway_agent_alarm',
  help: '1 while a condition needs an operator. The label and the status name the condition.',
  labels: ['alarm'],
} as const satisfies MetricDefinition;

type RaisedAlarm = AlarmName | AnnouncerAlarm;

/** Current conditions that need an operator. */
export class Alarms {
  readonly #raised = new Map<RaisedAlarm, string>();
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #gauge;

  /** `onChange` is called when an alarm is raised or ends. */
  constructor(log: Log, metrics: Metrics, onChange: () => void = () => {}) {
    this.#log = log;
    this.#onChange = onChange;
    this.#gauge = metrics.gauge(alarmMetric);
  }

  /** Raises the alarm if there is a message, and clears it otherwise. */
  set(name: RaisedAlarm, message: string | undefined): void {
    const isNew = this.#raised.has(name) !== (message !== undefined);
    if (message === undefined) this.#raised.delete(name);
    else this.#raised.set(name, message);
    if (!isNew) return;
    this.#gauge.set({ alarm: name }, message === undefined ? 0 : 1);
    this.#onChange();
    if (message === undefined) this.#log.info({ alarm: name }, 'alarm cleared');
    else this.#log.error({ alarm: name }, message);
  }

  list(): string[] {
    return [...this.#raised].map(([name, message]) => `${name}: ${message}`);
  }
}
