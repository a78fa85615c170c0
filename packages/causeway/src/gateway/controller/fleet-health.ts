import type { Address } from '@causeway/base/address/address';
import type { AgentStatus } from '../protocol/agent-status.ts';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { AgentWatch, type AgentWatchOptions } from './agent-watch.ts';
import type { AgentClient } from './agent-client-contract.ts';
import { agreeOnHealth } from './agreed-health.ts';
import { isCutOff } from '../protocol/alarm.ts';
import { hasRelief } from './relief.ts';
import { fleetMetrics } from './fleet-metrics.ts';

export interface FleetHealthOptions
  extends Omit<AgentWatchOptions, 'name' | 'agent' | 'onStatus' | 'onChange'> {
  /** Called when the status of a gateway has changed, or its stream has ended. */
  readonly onChange: (gateway: string) => void;
  /** Called with a gateway's status. */
  readonly onStatus: (gateway: string, status: AgentStatus) => void;
  readonly agents: ReadonlyMap<string, AgentClient>;
  readonly metrics: Metrics;
}

/** Collects the probe results of all gateways, and sends the same result to all of them. */
export class FleetHealth {
  readonly #options: FleetHealthOptions;
  readonly #watches: ReadonlyMap<string, AgentWatch>;
  readonly #unhealthyGauge;
  readonly #followedGauge;
  #unhealthy: ReadonlySet<Address> = new Set();

  constructor(options: FleetHealthOptions) {
    this.#options = options;
    this.#unhealthyGauge = options.metrics.gauge(fleetMetrics.unhealthy);
    this.#followedGauge = options.metrics.gauge(fleetMetrics.followed);
    this.#watches = new Map(
      [...options.agents].map(([name, agent]) => {
        const onChange = () => this.#heardFrom(name);
        const onStatus = (status: AgentStatus) => options.onStatus(name, status);
        return [name, new AgentWatch({ ...options, name, agent, onChange, onStatus })];
      }),
    );
  }

  /** The status of the gateway, while its stream is open. */
  statusOf(name: string) {
    return this.#watches.get(name)?.status;
  }

  async run(signal: AbortSignal): Promise<void> {
    const loops = [...this.#watches].map(([name, watch]): [string, Loop] => [
      `status of ${name}`,
      (inner) => watch.run(inner),
    ]);
    await supervise(signal, Object.fromEntries(loops));
  }

  #heardFrom(name: string): void {
    const { log, onChange } = this.#options;
    this.#followedGauge.set({ gateway: name }, this.statusOf(name) === undefined ? 0 : 1);
    const views = [...this.#watches.values()].flatMap(({ view }) => view ?? []);
    const agreed = agreeOnHealth(views);
    const isChanged = agreed.symmetricDifference(this.#unhealthy).size > 0;
    if (isChanged) {
      this.#unhealthy = agreed;
      this.#unhealthyGauge.set({}, agreed.size);
      log.info(
        { unhealthy: [...agreed].slice(0, 20), count: agreed.size },
        'unhealthy backends changed',
      );
    }
    for (const watch of this.#watches.values()) {
      const relief = this.#reliefOf(watch);
      if (isChanged || relief !== watch.relief) watch.hand(agreed, relief);
    }
    onChange(name);
  }

  /** False for a gateway that reaches its backends: it needs no relief. */
  #reliefOf(watch: AgentWatch): boolean {
    const { status } = watch;
    if (status === undefined || !status.alarms.some(isCutOff)) return false;
    const others = [...this.#watches.values()].filter((each) => each !== watch);
    return hasRelief(
      status,
      others.flatMap((each) => each.status ?? []),
    );
  }
}
