import { CausewayError } from '../domain/error.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Service } from '../kube/core-objects.ts';
import type { EventContent } from '../kube/event-recorder.ts';
import { keyOf, nameFromKey } from '../kube/object.ts';
import { configMaps, nodes } from '../kube/resources.ts';
import { sleep, type Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { activityLabel, parseReport, type ActivityReport } from './activity-report.ts';
import { annotationsOf, hasIdledAt, idleAfterAnnotation } from './annotations.ts';
import { decideAutoIdle } from './decide-auto-idle.ts';
import type { Idler } from './idler.ts';

export interface AutoIdlerOptions {
  readonly client: KubeClient;
  readonly idler: Idler;
  readonly services: () => Iterable<Service>;
  readonly tell: (service: Service, content: EventContent) => void;
  /** Where nodes report. */
  readonly namespace: string;
  readonly everyMs: number;
  /** A node that has said nothing new for so long has not reported. */
  readonly staleAfterMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Seen {
  readonly version: string;
  /** By our own clock; undefined until it has changed before our eyes: it may be a dead node's. */
  readonly changedAt: number | undefined;
}

/** Puts Services to sleep that say so themselves, once nobody has been connected for long enough. */
export class AutoIdler {
  readonly #options: AutoIdlerOptions;
  readonly #seen = new Map<string, Seen>();

  constructor(options: AutoIdlerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, everyMs } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#look(signal);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        if (signal.aborted) throw error;
        log.warn({ error }, 'could not look for Services that are quiet');
      }
      await sleep(clock, everyMs, signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const wanting = [...this.#options.services()].filter(
      (service) => annotationsOf(service)[idleAfterAnnotation] !== undefined,
    );
    if (wanting.length === 0) return;
    const reports = await this.#freshReports(signal);
    const names: string[] = [];
    for await (const { metadata } of this.#options.client.list(nodes, { signal })) {
      names.push(metadata?.name ?? '');
    }
    for (const service of wanting) await this.#judge(service, names, reports, signal);
  }

  async #judge(
    service: Service,
    names: readonly string[],
    reports: ReadonlyMap<string, ActivityReport>,
    signal: AbortSignal,
  ): Promise<void> {
    const { idler, tell } = this.#options;
    const key = keyOf(service);
    const idleAfter = annotationsOf(service)[idleAfterAnnotation] ?? '';
    const isAsleep = hasIdledAt(service);
    const decision = decideAutoIdle({ service: key, idleAfter, isAsleep, nodes: names, reports });
    if (decision.kind === 'stay') return;
    if (decision.kind === 'invalid') {
      const message = `The annotation ${idleAfterAnnotation}: ${decision.reason}.`;
      tell(service, { type: 'Warning', reason: 'CannotIdle', message });
      return;
    }
    try {
      await idler.idle(nameFromKey(key), signal);
      const message = `Nobody has been connected for ${decision.quietSeconds} s: put to sleep.`;
      tell(service, { type: 'Normal', reason: 'Idled', message });
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (signal.aborted) throw error;
      tell(service, { type: 'Warning', reason: 'CannotIdle', message: `${error.message}.` });
    }
  }

  /** Reports that changed while we looked, and not too long ago. */
  async #freshReports(signal: AbortSignal): Promise<Map<string, ActivityReport>> {
    const { client, clock, namespace, staleAfterMs } = this.#options;
    const now = clock.monotonic();
    const fresh = new Map<string, ActivityReport>();
    const selection = { namespace, labelSelector: activityLabel, signal };
    for await (const object of client.list(configMaps, selection)) {
      const report = parseReport(object);
      if (report === undefined) continue;
      const version = object.metadata?.resourceVersion ?? '';
      const known = this.#seen.get(report.node);
      const hasChanged = known !== undefined && known.version !== version;
      const changedAt = hasChanged ? now : known?.changedAt;
      this.#seen.set(report.node, { version, changedAt });
      if (changedAt !== undefined && now - changedAt < staleAfterMs) fresh.set(report.node, report);
    }
    return fresh;
  }
}
