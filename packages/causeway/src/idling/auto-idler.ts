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
  /** Whether everything that a marked Service names has no replicas. */
  readonly isAsleep: (service: Service, signal: AbortSignal) => Promise<boolean>;
  /** Someone has asked for a marked Service, and its pods are on their way. */
  readonly isWaking: (key: string) => boolean;
  readonly recordEvent: (service: Service, content: EventContent) => void;
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
  readonly checkedAt: number;
  /** Undefined until it has changed before our eyes: it may be a dead node's. */
  readonly change: Change | undefined;
}

/** When a report became another one, by our own clock: we saw the old one, then the new one. */
interface Change {
  readonly after: number;
  readonly before: number;
}

/** A mark that may be all that was done: whoever wrote it may have been cut off before the scale to 0. */
interface Unproved {
  readonly mark: string;
  /** Since when it may have been quiet and awake nevertheless; undefined once it is known to sleep. */
  awakeSince: number | undefined;
}

/** Every node of the cluster, and what they have said lately. */
interface NodesState {
  readonly nodes: readonly string[];
  readonly reports: ReadonlyMap<string, DatedReport>;
}

/** Puts Services to sleep that say so themselves, once nobody has been connected for long enough. */
export class AutoIdler {
  readonly #options: AutoIdlerOptions;
  readonly #seen = new Map<string, Seen>();
  /** Since when each Service has no mark, as far as we know; undefined while it has one. */
  readonly #awakeSince = new Map<string, number | undefined>();
  readonly #unproved = new Map<string, Unproved>();
  /** Services whose way to sleep failed, with how long they had been awake: it is gone on with soon. */
  readonly #failed = new Map<string, number>();

  constructor(options: AutoIdlerOptions) {
    this.#options = options;
  }

  /** Told of every change, so that a sleep between two looks is not missed. */
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
    // Woken: whatever failed on the way to that sleep is past.
    if (this.#unproved.delete(key)) this.#failed.delete(key);
    if (this.#awakeSince.get(key) === undefined) this.#awakeSince.set(key, now);
  }

  forget(key: string): void {
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
        log.warn({ error }, 'could not look for Services that are quiet');
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
      recordEvent(service, { type: 'Warning', reason: 'CannotIdle', message });
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
      const message = `Nobody has been connected for ${decision.quietSeconds} s: put to sleep.`;
      recordEvent(service, { type: 'Normal', reason: 'Idled', message });
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (signal.aborted) throw error;
      recordEvent(service, { type: 'Warning', reason: 'CannotIdle', message: `${error.message}.` });
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

  /** Others may be served by the same pods. They can go only if each of them may be put to sleep as well. */
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
        `Service ${keyOf(other)} is served by the same pods, and is not to be put to sleep now`,
      );
    }
  }

  /** Reports that changed while we looked, and not too long ago. */
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
