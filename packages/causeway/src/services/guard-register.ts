import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { Clock } from '@causeway/base/time/clock';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import { configMaps } from '@causeway/kubernetes/objects/resources';

/** The ConfigMap beside the controller's lease that shows what guards hold back. */
export const guardRegisterName = 'causeway-guards';

/** `nodes`: a mass loss of nodes. `addresses`: addresses in use that are in no list. */
export const guardNames = ['nodes', 'addresses'] as const;
export type GuardName = (typeof guardNames)[number];

/** What a guard holds back. */
export interface GuardReport {
  /** The number of objects. */
  readonly held: number;
  readonly message: string;
}

export interface GuardReporter {
  /** Takes the report of a guard; undefined if the guard holds nothing back. */
  report(guard: GuardName, report: GuardReport | undefined): void;
}

export const noGuards: GuardReporter = { report: () => {} };

export const guardMetric = {
  kind: 'gauge',
  name: 'causeway_guard_held',
  help: 'Number of objects that a guard keeps in use in spite of a doubtful loss: `nodes`, `addresses` or, in the node proxy, `endpoints` (Services).',
  labels: ['guard'],
} as const satisfies MetricDefinition;

const heldReasons: Readonly<Record<GuardName, EventReason>> = {
  nodes: 'MassLossHeld',
  addresses: 'AddressesKept',
};

const entrySchema = z.object({ message: z.string(), since: z.string() });
export interface GuardEntry extends z.output<typeof entrySchema> {
  readonly guard: string;
}

/** Reads the guards that hold something back. */
export function readGuardRegister({ data = {} }: ConfigMap): GuardEntry[] {
  return Object.entries(data).flatMap(([guard, text]) => {
    const entry = parse(text);
    return entry === undefined ? [] : [{ guard, ...entry }];
  });
}

export interface GuardRegisterOptions {
  readonly client: KubeClient;
  /** The namespace of the controller's lease. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Records an Event about the ConfigMap. */
  readonly record: (about: ConfigMap, content: EventContent) => void;
}

interface Held extends GuardReport {
  readonly since: string;
}

/** Shows what the guards of all providers hold back: an Event, a metric, and the ConfigMap for `causeway status`. */
export class GuardRegister implements GuardReporter {
  readonly #options: GuardRegisterOptions;
  readonly #gauge;
  readonly #held = new Map<GuardName, Held>();
  readonly #writer: BoundedFrequencyRunner;

  constructor(options: GuardRegisterOptions) {
    const { clock, log, metrics } = options;
    this.#options = options;
    this.#gauge = metrics.gauge(guardMetric);
    for (const guard of guardNames) this.#gauge.set({ guard }, 0);
    this.#writer = new BoundedFrequencyRunner({
      name: 'guard ConfigMap',
      run: (signal) => this.#write(signal),
      minIntervalMs: 2_000,
      burst: 2,
      maxIntervalMs: 300_000,
      retryMs: 10_000,
      clock,
      log,
    });
  }

  report(guard: GuardName, report: GuardReport | undefined): void {
    const before = this.#held.get(guard);
    if (before?.message === report?.message) return;
    const { clock, log } = this.#options;
    this.#gauge.set({ guard }, report?.held ?? 0);
    if (report === undefined) {
      this.#held.delete(guard);
      this.#record('GuardEnded', `The guard for ${guard} holds nothing back any more`);
      log.info({ guard }, 'the guard holds nothing back any more');
    } else {
      const since = before?.since ?? new Date(clock.wallTime()).toISOString();
      this.#held.set(guard, { ...report, since });
      if (before === undefined) this.#record(heldReasons[guard], report.message);
      log.warn({ guard, held: report.held }, report.message);
    }
    this.#writer.request();
  }

  async run(signal: AbortSignal): Promise<void> {
    // Removes what an earlier process reported and what is no longer true.
    this.#writer.request();
    await this.#writer.loop(signal);
  }

  #record(reason: EventReason, message: string): void {
    const { namespace, record } = this.#options;
    record({ metadata: { namespace, name: guardRegisterName } }, { reason, message });
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const metadata = { namespace, name: guardRegisterName };
    try {
      const { data = {} } = (await client.find(configMaps, metadata, { signal })) ?? {};
      const change: Record<string, string | null> = {};
      for (const key of Object.keys(data)) if (!this.#isHeld(key)) change[key] = null;
      for (const [guard, { message, since }] of this.#held) {
        const text = JSON.stringify({ message, since });
        if (data[guard] !== text) change[guard] = text;
      }
      if (Object.keys(change).length === 0) return;
      await patchOrCreate(client, configMaps, { metadata }, { data: change }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ error: CausewayError.from(error) }, 'could not write the list of guards');
      throw error;
    }
  }

  #isHeld(key: string): boolean {
    return guardNames.some((guard) => guard === key && this.#held.has(guard));
  }
}

function parse(text: string): z.output<typeof entrySchema> | undefined {
  try {
    return entrySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
