import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Loop } from '@causeway/base/work/supervisor';
import { WakeUp } from '@causeway/base/work/wake-up';
import type { Alarms } from './alarms.ts';
import { gatewayMetrics } from './metric-definitions.ts';
import type { Gateway } from './gateway.ts';
import type { Announcer } from './announce/announcer.ts';
import type { Kernel } from './kernel.ts';
import type { Overrides } from './overrides.ts';
import { V1Removals } from './apply/v1-removals.ts';
import { withheldIn, type RemovalLimits } from './apply/withhold.ts';
import { WithheldWatch } from './apply/withheld-watch.ts';

export interface MaintenanceOptions {
  readonly gateway: Pick<
    Gateway,
    | 'isDegraded'
    | 'restore'
    | 'compactIfNeeded'
    | 'state'
    | 'doubt'
    | 'storeProblem'
    | 'applyRemovals'
  >;
  readonly limits: RemovalLimits;
  readonly overrides: Pick<Overrides, 'damage' | 'problem' | 'storeAgain'>;
  readonly kernel: Pick<
    Kernel,
    'foreignChanges' | 'check' | 'elements' | 'connections' | 'deleteAllConnections'
  >;
  readonly announcer: Pick<Announcer, 'missing' | 'onChange'>;
  readonly alarms: Alarms;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const repairEveryMs = 1_000;
const watchAgainMs = 5_000;
const checkEveryMs = 2_000;
const compactEveryMs = 10_000;

/** Periodic tasks that keep the machine in the accepted state. */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #repairDue = new WakeUp();
  readonly #leftActiveRole = new WakeUp();
  #wasTampered = false;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    options.announcer.onChange((role, before) => {
      if (before === 'active' && role !== 'active') this.#leftActiveRole.call();
    });
  }

  loops(): Record<string, Loop> {
    return {
      repair: (signal) => this.#repair(signal),
      alarms: (signal) => this.#raiseAlarms(signal),
      'foreign changes': (signal) => this.#followForeignChanges(signal),
      kernel: (signal) => this.#checkKernel(signal),
      'stored configuration': (signal) => this.#compact(signal),
      'removals of /v1': (signal) => this.#applyV1Removals(signal),
      'conntrack cleanup': (signal) => this.#deleteAfterActiveRole(signal),
    };
  }

  /** Restores the accepted configuration in the kernel after a failed rollback and after foreign changes. */
  async #repair(signal: AbortSignal): Promise<void> {
    const { gateway, clock, log } = this.#options;
    while (!signal.aborted) {
      await this.#repairDue.next(signal);
      if (signal.aborted) return;
      if (!gateway.isDegraded && !this.#wasTampered) continue;
      this.#wasTampered = false;
      try {
        await gateway.restore(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        this.#wasTampered = true;
        log.error(
          { error: CausewayError.from(error) },
          "the accepted configuration can't be restored",
        );
        await sleep(clock, repairEveryMs, signal);
        this.#repairDue.call();
      }
    }
  }

  async #raiseAlarms(signal: AbortSignal): Promise<void> {
    const { gateway, announcer, alarms, clock } = this.#options;
    const withheld = new WithheldWatch(clock);
    this.#raiseStoreAlarms();
    while (!signal.aborted) {
      await sleep(clock, repairEveryMs, signal);
      this.#raiseStoreAlarms();
      if (gateway.isDegraded) this.#repairDue.call();
      alarms.set(
        'degraded',
        gateway.isDegraded ? 'the kernel may differ from the accepted configuration' : undefined,
      );
      alarms.set('removals-withheld', withheld.alarm(withheldIn(gateway.state).size));
      const missing = await announcer.missing(signal).catch(() => undefined);
      const count = missing?.size ?? 0;
      alarms.set('addresses-missing', count === 0 ? undefined : `${count} addresses are missing`);
    }
  }

  /** Applies withheld removals of a controller that can't confirm them. */
  async #applyV1Removals(signal: AbortSignal): Promise<void> {
    const { gateway, limits, clock, log } = this.#options;
    const removals = new V1Removals(clock, limits);
    while (!signal.aborted) {
      await sleep(clock, repairEveryMs, signal);
      const due = removals.due(gateway.state);
      if (due.size === 0) continue;
      try {
        await gateway.applyRemovals(due);
      } catch (error) {
        log.warn({ error: CausewayError.from(error) }, "withheld removals can't be applied");
      }
    }
  }

  #raiseStoreAlarms(): void {
    const { gateway, overrides, alarms } = this.#options;
    const waits = gateway.doubt === undefined ? [] : [`${gateway.doubt}; waiting for an update`];
    const damage = overrides.damage === undefined ? waits : [...waits, overrides.damage];
    alarms.set('state-damaged', damage.length === 0 ? undefined : damage.join('; '));
    alarms.set('state-not-stored', gateway.storeProblem ?? overrides.problem);
  }

  /** While changes can't be watched, each attempt to watch them also checks the tables. */
  async #followForeignChanges(signal: AbortSignal): Promise<void> {
    const { kernel, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const { what } of kernel.foreignChanges(signal)) {
          log.warn({ what }, "another program changed the agent's table; repairing it");
          this.#callForRepair();
        }
      } catch (error) {
        if (signal.aborted) throw error;
        const problem = { error: CausewayError.from(error) };
        log.error(problem, "the agent's tables can't be watched; checking them instead");
        this.#callForRepair();
      }
      if (!signal.aborted) await sleep(clock, watchAgainMs, signal);
    }
  }

  #callForRepair(): void {
    this.#wasTampered = true;
    this.#repairDue.call();
  }

  async #checkKernel(signal: AbortSignal): Promise<void> {
    const { clock, kernel, metrics } = this.#options;
    const connections = metrics.gauge(gatewayMetrics.connections);
    const elements = metrics.gauge(gatewayMetrics.elements);
    const fill = metrics.gauge(gatewayMetrics.connectionFill);
    while (!signal.aborted) {
      await kernel.check();
      elements.set({}, kernel.elements());
      const found = kernel.connections();
      if (found !== null) {
        connections.set({}, found.count);
        fill.set({}, found.limit === 0 ? 0 : found.count / found.limit);
      }
      await sleep(clock, checkEveryMs, signal);
    }
  }

  /** Conntrack entries of this gateway are out of date after another gateway had the connections. */
  async #deleteAfterActiveRole(signal: AbortSignal): Promise<void> {
    const { kernel, log } = this.#options;
    while (!signal.aborted) {
      await this.#leftActiveRole.next(signal);
      if (signal.aborted) return;
      try {
        await kernel.deleteAllConnections(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn(
          { error: CausewayError.from(error) },
          'conntrack entries of old connections may remain',
        );
      }
    }
  }

  async #compact(signal: AbortSignal): Promise<void> {
    const { gateway, overrides, clock, log } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, compactEveryMs, signal);
      await overrides.storeAgain();
      try {
        await gateway.compactIfNeeded();
      } catch (error) {
        // For example a full disk. The existing file is intact, and the next round tries again.
        log.warn(
          { error: CausewayError.from(error) },
          "the stored configuration can't be rewritten",
        );
      }
    }
  }
}
