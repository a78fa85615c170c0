import type { Address } from '@causeway/base/address/address';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { AgentWatch, type AgentWatchOptions } from './agent-watch.ts';
import type { AgentClient } from './agent-client-contract.ts';
import type { AgentLink } from './agent-link.ts';
import { agreeOnHealth } from './agreed-health.ts';
import { isCutOff } from '../../protocol/alarm.ts';
import { hasRelief } from './relief.ts';
import { describeSeeds } from './seeds.ts';
import { fleetMetrics } from './fleet-metrics.ts';

export interface FleetHealthOptions extends Omit<AgentWatchOptions, 'name' | 'agent' | 'link'> {
  readonly gateways: Iterable<{ readonly agent: AgentClient; readonly link: AgentLink }>;
  readonly metrics: Metrics;
}

/** Collects the probe results of all gateways, and sends the same result to all of them. */
export class FleetHealth {
  readonly #options: FleetHealthOptions;
  readonly #watches: ReadonlyMap<string, AgentWatch>;
  readonly #unhealthyGauge;
  readonly #followedGauge;
  readonly #seedsGauge;
  #differentSeeds: string | undefined;
  #unhealthy: ReadonlySet<Address> = new Set();

  constructor(options: FleetHealthOptions) {
    this.#options = options;
    this.#unhealthyGauge = options.metrics.gauge(fleetMetrics.unhealthy);
    this.#followedGauge = options.metrics.gauge(fleetMetrics.followed);
    this.#seedsGauge = options.metrics.gauge(fleetMetrics.differentSeeds);
    this.#watches = new Map(
      [...options.gateways].map(({ agent, link }) => {
        const { name } = link;
        return [name, new AgentWatch({ ...options, name, agent, link })];
      }),
    );
  }

  /** A problem if gateways have different seeds. */
  get differentSeeds(): string | undefined {
    return this.#differentSeeds;
  }

  /** The status of the gateway, while its stream is open. */
  statusOf(name: string) {
    return this.#watches.get(name)?.status;
  }

  /** The backends and nodes that all gateways exclude. */
  get unhealthy(): ReadonlySet<Address> {
    return this.#unhealthy;
  }

  async run(signal: AbortSignal): Promise<void> {
    const loops = [...this.#watches].map(([name, watch]): [string, Loop] => [
      `status of ${name}`,
      (inner) => watch.run(inner),
    ]);
    await supervise(signal, Object.fromEntries(loops));
  }

  /** Computes the unhealthy backends again after these gateways have sent their status, or have stopped. */
  agree(gateways: Iterable<string>): void {
    const { log } = this.#options;
    for (const gateway of gateways) {
      this.#followedGauge.set({ gateway }, this.statusOf(gateway) === undefined ? 0 : 1);
    }
    this.#compareSeeds();
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
  }

  #compareSeeds(): void {
    const statuses = [...this.#watches].flatMap(([name, { status }]) =>
      status === undefined ? [] : [[name, status] as const],
    );
    const problem = describeSeeds(new Map(statuses));
    if (problem === this.#differentSeeds) return;
    this.#differentSeeds = problem;
    this.#seedsGauge.set({}, problem === undefined ? 0 : 1);
    const { log } = this.#options;
    if (problem === undefined) log.info({}, 'the gateways no longer have different seeds');
    else log.error({}, problem);
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
