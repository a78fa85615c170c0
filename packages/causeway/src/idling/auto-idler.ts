import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import { gatewayLayerAnnotation } from '../services/backend-layer.ts';
import { keyOf, nameFromKey, type ObjectName } from '@causeway/kubernetes/objects/object';
import { configMaps, nodes } from '@causeway/kubernetes/objects/resources';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { activityLabel, parseReport } from './activity-report.ts';
import { annotationsOf, hasIdledAt, idleAfterAnnotation, idledAt } from './annotations.ts';
import { decideAutoIdle, type AutoIdleDecision, type DatedReport } from './decide-auto-idle.ts';
import type { Idler } from './idler.ts';
import { servicesLosingPods } from './shared-pods.ts';

export interface AutoIdlerOptions {
  readonly client: KubeClient;
  readonly idler: Idler;
  readonly services: () => Iterable<Service>;
  /** Whether every target of a marked Service has no replicas. */
  readonly isAsleep: (service: Service, signal: AbortSignal) => Promise<boolean>;
  /** A client requested a marked Service, and its pods are starting. */
  readonly isWaking: (key: string) => boolean;
  readonly recordEvent: (service: Service, content: EventContent) => void;
  /** The namespace of the nodes' reports. */
  readonly namespace: string;
  readonly everyMs: number;
  /** A node without a new report for this time counts as not reporting. */
  readonly staleAfterMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Seen {
  readonly version: string;
  readonly checkedAt: number;
  /** Undefined until the controller has seen the report change: an unchanged report may be of a dead node. */
  readonly change: Change | undefined;
}

/** The change of a report, by the controller's own clock: the old report was seen, then the new one. */
interface Change {
  readonly after: number;
  readonly before: number;
}

/** A mark without proof of the scale to 0: its writer may have been interrupted before. */
interface Unproved {
  readonly mark: string;
  /** Start of the possible unused time while awake; undefined once the Service is known to be idle. */
  awakeSince: number | undefined;
}

/** Every node of the cluster, and the recent reports. */
interface NodesState {
  readonly nodes: readonly string[];
  readonly reports: ReadonlyMap<string, DatedReport>;
}

/** Idles Services with the annotation `causeway.dev/idle-after` after the given time without connections. */
export class AutoIdler {
  readonly #options: AutoIdlerOptions;
  readonly #seen = new Map<string, Seen>();
  /** For each Service, the time since which it is known to have no mark; undefined while it has one. */
  readonly #awakeSince = new Map<string, number | undefined>();
  readonly #unproved = new Map<string, Unproved>();
  /** Services with a failed idling, and their awake time. The controller tries again soon. */
  readonly #failed = new Map<string, number>();

  constructor(options: AutoIdlerOptions) {
    this.#options = options;
  }

  /** Called for every change, so that an idle period between two checks is not missed. */
  note(service: Service): void {
    const key = keyOf(service);
    const now = this.#options.clock.monotonic();
    if (hasIdledAt(service)) {
      this.#awakeSince.set(key, undefined);
      const mark = annotationsOf(service)[idledAt] ?? '';
      if (this.#unproved.get(key)?.mark === mark) return;
      this.#unproved.set(key, { mark, awakeSince: this.#failed.get(key) ?? now });
      return;
    }
    // The Service woke up, so the failed idling is obsolete.
    if (this.#unproved.delete(key)) this.#failed.delete(key);
    if (this.#awakeSince.get(key) === undefined) this.#awakeSince.set(key, now);
  }

  drop(key: string): void {
    this.#awakeSince.delete(key);
    this.#unproved.delete(key);
    this.#failed.delete(key);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, everyMs } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#check(signal);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        if (signal.aborted) throw error;
        log.warn({ error }, 'could not check for unused Services');
      }
      await sleep(clock, everyMs, signal);
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const wanting = [...this.#options.services()].filter(
      (service) => annotationsOf(service)[idleAfterAnnotation] !== undefined,
    );
    for (const service of wanting) this.note(service);
    if (wanting.length === 0) return;
    const reports = await this.#freshReports(signal);
    const names: string[] = [];
    for await (const { metadata } of this.#options.client.list(nodes, { signal })) {
      names.push(metadata?.name ?? '');
    }
    const state = { nodes: names, reports };
    for (const service of wanting) await this.#judge(service, state, signal);
  }

  #decide(service: Service, state: NodesState): AutoIdleDecision {
    const key = keyOf(service);
    const annotations = annotationsOf(service);
    return decideAutoIdle({
      service: key,
      idleAfter: annotations[idleAfterAnnotation] ?? '',
      isPastNodes: annotations[gatewayLayerAnnotation] === 'Pod',
      awakeSince: this.#awakeSince.get(key) ?? this.#unproved.get(key)?.awakeSince,
      ...state,
    });
  }

  async #judge(service: Service, state: NodesState, signal: AbortSignal): Promise<void> {
    const { idler, recordEvent, isWaking, clock } = this.#options;
    const key = keyOf(service);
    const unproved = this.#unproved.get(key);
    if (unproved !== undefined && isWaking(key)) {
      unproved.awakeSince = clock.monotonic();
      return;
    }
    const decision = this.#decide(service, state);
    if (decision.kind === 'stay') return;
    if (decision.kind === 'invalid') {
      const message = `The annotation ${idleAfterAnnotation}: ${decision.reason}.`;
      recordEvent(service, { reason: 'CannotIdle', message });
      return;
    }
    try {
      if (unproved !== undefined && (await this.#isProved(service, unproved, signal))) return;
      const name = nameFromKey(key);
      await this.#refuseIfOthersNeedPods(name, state, signal);
      const since = this.#awakeSince.get(key) ?? unproved?.awakeSince;
      if (since !== undefined) this.#failed.set(key, since);
      await idler.idle(name, signal);
      this.#failed.delete(key);
      const message = `The Service had no connections for ${decision.quietSeconds} s: put to sleep.`;
      recordEvent(service, { reason: 'Idled', message });
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (signal.aborted) throw error;
      recordEvent(service, { reason: 'CannotIdle', message: `${error.message}.` });
    }
  }

  async #isProved(service: Service, unproved: Unproved, signal: AbortSignal): Promise<boolean> {
    const isAsleep = await this.#options.isAsleep(service, signal);
    if (isAsleep) {
      unproved.awakeSince = undefined;
      this.#failed.delete(keyOf(service));
    }
    return isAsleep;
  }

  /**
   * The same pods may serve other Services. The pods stop only if each of those Services may be idled as
   * well.
   */
  async #refuseIfOthersNeedPods(
    name: ObjectName,
    state: NodesState,
    signal: AbortSignal,
  ): Promise<void> {
    const { idler, client } = this.#options;
    const plan = await idler.plan(name, signal);
    for (const other of await servicesLosingPods(client, [plan], signal)) {
      if (this.#decide(other, state).kind === 'idle') continue;
      throw new CausewayError(
        'conflict',
        `Service ${keyOf(other)} is served by the same pods and must stay awake now`,
      );
    }
  }

  /** Reports that changed during the observation, and recently enough. */
  async #freshReports(signal: AbortSignal): Promise<Map<string, DatedReport>> {
    const { client, clock, namespace, staleAfterMs } = this.#options;
    const now = clock.monotonic();
    const fresh = new Map<string, DatedReport>();
    const selection = { namespace, labelSelector: activityLabel, signal };
    for await (const object of client.list(configMaps, selection)) {
      const report = parseReport(object);
      if (report === undefined) continue;
      const version = object.metadata?.resourceVersion ?? '';
      const known = this.#seen.get(report.node);
      const hasChanged = known !== undefined && known.version !== version;
      const change = hasChanged ? { after: known.checkedAt, before: now } : known?.change;
      this.#seen.set(report.node, { version, checkedAt: now, change });
      if (change !== undefined && now - change.before < staleAfterMs) {
        fresh.set(report.node, { ...report, writtenAfter: change.after });
      }
    }
    return fresh;
  }
}
