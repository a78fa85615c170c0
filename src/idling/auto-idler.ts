import { CausewayError } from '../domain/error.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Service } from '../kube/core-objects.ts';
import type { EventContent } from '../kube/event-recorder.ts';
import { gatewayLayerAnnotation } from '../kube/gateway-layer.ts';
import { keyOf, nameFromKey, type ObjectName } from '../kube/object.ts';
import { configMaps, nodes } from '../kube/resources.ts';
import { sleep, type Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { activityLabel, parseReport } from './activity-report.ts';
import { annotationsOf, hasIdledAt, idleAfterAnnotation } from './annotations.ts';
import { decideAutoIdle, type AutoIdleDecision, type DatedReport } from './decide-auto-idle.ts';
import type { Idler } from './idler.ts';
import { servicesLosingPods } from './shared-pods.ts';

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
  readonly lookedAt: number;
  /** Undefined until it has changed before our eyes: it may be a dead node's. */
  readonly change: Change | undefined;
}

/** When a report became another one, by our own clock: we saw the old one, then the new one. */
interface Change {
  readonly after: number;
  readonly before: number;
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

  constructor(options: AutoIdlerOptions) {
    this.#options = options;
  }

  /** Told of every change, so that a sleep between two looks is not missed. */
  note(service: Service): void {
    const key = keyOf(service);
    if (hasIdledAt(service)) this.#awakeSince.set(key, undefined);
    else if (this.#awakeSince.get(key) === undefined) {
      this.#awakeSince.set(key, this.#options.clock.monotonic());
    }
  }

  forget(key: string): void {
    this.#awakeSince.delete(key);
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
      awakeSince: this.#awakeSince.get(key),
      ...state,
    });
  }

  async #judge(service: Service, state: NodesState, signal: AbortSignal): Promise<void> {
    const { idler, tell } = this.#options;
    const decision = this.#decide(service, state);
    if (decision.kind === 'stay') return;
    if (decision.kind === 'invalid') {
      const message = `The annotation ${idleAfterAnnotation}: ${decision.reason}.`;
      tell(service, { type: 'Warning', reason: 'CannotIdle', message });
      return;
    }
    try {
      const name = nameFromKey(keyOf(service));
      await this.#refuseIfOthersNeedPods(name, state, signal);
      await idler.idle(name, signal);
      const message = `Nobody has been connected for ${decision.quietSeconds} s: put to sleep.`;
      tell(service, { type: 'Normal', reason: 'Idled', message });
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (signal.aborted) throw error;
      tell(service, { type: 'Warning', reason: 'CannotIdle', message: `${error.message}.` });
    }
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
      const change = hasChanged ? { after: known.lookedAt, before: now } : known?.change;
      this.#seen.set(report.node, { version, lookedAt: now, change });
      if (change !== undefined && now - change.before < staleAfterMs) {
        fresh.set(report.node, { ...report, writtenAfter: change.after });
      }
    }
    return fresh;
  }
}
