import { formatReport } from '../../idling/activity-report.ts';
import { annotationsOf, hasIdledAt, idleAfterAnnotation } from '../../idling/annotations.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { familyOf, type Family } from '@causeway/base/address/address';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import type { Driver } from '@causeway/nftables/drivers/driver';
import { setNames } from '@causeway/nftables/model/names';
import { protocolNumbers } from '@causeway/nftables/model/operands';
import {
  serviceKey,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { ProxyStore } from '../proxy-store.ts';
import type { ServedService } from '../served-service.ts';

export interface ActivityWatchOptions {
  readonly store: ProxyStore;
  readonly driver: Driver;
  readonly connections: LiveConnections;
  readonly client: KubeClient;
  readonly node: string;
  /** Namespace of the node's activity reports. */
  readonly namespace: string;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The services that have tracked connections in the kernel. */
export interface LiveConnections {
  connected(
    services: readonly VirtualService[],
    signal?: AbortSignal,
  ): Promise<ReadonlySet<ServiceKey>>;
}

interface Watched {
  /** Time of the monotonic clock. */
  activeAt: number;
  isMarked: boolean;
  /** Number of new connections so far; undefined before the first check. */
  count: bigint | undefined;
}

/**
 * Detects which annotated Services are used through this node, and reports how long each has been idle. The
 * rules count new connections, and the kernel's table has the established ones. So short connections and idle
 * ones are both detected.
 */
export class ActivityWatch {
  readonly #options: ActivityWatchOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #targets = new Map<string, readonly VirtualService[]>();
  #reports = 0;

  constructor(options: ActivityWatchOptions) {
    this.#options = options;
    options.store.services.onChange((change) => {
      const service = change.type === 'deleted' ? undefined : change.after;
      if (annotationsOf(service)[idleAfterAnnotation] === undefined) {
        this.#watched.delete(change.key);
      } else this.#watch(change.key, hasIdledAt(service));
    });
  }

  onCommit(served: readonly ServedService[]): void {
    for (const { service, targets } of served) {
      if (targets.length === 0) this.#targets.delete(service);
      else
        this.#targets.set(
          service,
          targets.map(({ virtual }) => virtual),
        );
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, everyMs } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, everyMs, signal);
      try {
        if (this.#watched.size > 0) await this.report(signal);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        if (signal.aborted) throw error;
        // Without a report, the controller keeps the Services awake.
        log.warn({ error }, 'the activity of Services was not reported');
      }
    }
  }

  /** Checks once and reports. Services that could not be checked are not reported. */
  async report(signal: AbortSignal): Promise<void> {
    const { client, clock, node, namespace, store } = this.#options;
    await this.#check(signal);
    const now = clock.monotonic();
    const quietSeconds = new Map(
      [...this.#watched].map(([key, { activeAt }]) => [key, Math.floor((now - activeAt) / 1000)]),
    );
    this.#reports += 1;
    const owner = store.nodes.get(node);
    const object = formatReport(namespace, { node, quietSeconds }, this.#reports, owner);
    const options = { fieldManager: 'causeway-proxy', force: true, signal };
    await client.apply(configMaps, object, options);
  }

  /** The idle time starts when the Service becomes known, and again when it wakes. */
  #watch(key: string, isMarked: boolean): void {
    const activeAt = this.#options.clock.monotonic();
    const known = this.#watched.get(key);
    if (known === undefined) this.#watched.set(key, { activeAt, isMarked, count: undefined });
    else {
      if (known.isMarked && !isMarked) known.activeAt = activeAt;
      known.isMarked = isMarked;
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { connections, clock } = this.#options;
    const all = [...this.#watched.keys()].flatMap((key) => this.#targets.get(key) ?? []);
    const connected = await connections.connected(all, signal);
    const counts = await this.#counts(signal);
    const now = clock.monotonic();
    for (const [key, watched] of this.#watched) {
      const targets = this.#targets.get(key) ?? [];
      const count = targets.reduce(
        (sum, target) => sum + (counts.get(serviceKey(target)) ?? 0n),
        0n,
      );
      const isUsed = targets.some((target) => connected.has(serviceKey(target)));
      if (isUsed || count !== watched.count) watched.activeAt = now;
      watched.count = count;
    }
  }

  /** New connections so far, by service. */
  async #counts(signal: AbortSignal): Promise<Map<ServiceKey, bigint>> {
    const counts = new Map<ServiceKey, bigint>();
    const byId = new Map<string, ServiceKey>();
    const families = new Set<Family>();
    for (const targets of this.#targets.values()) {
      for (const target of targets) {
        const { address, protocol, port } = target;
        byId.set(`${address} . ${protocolNumbers[protocol]} . ${port}`, serviceKey(target));
        families.add(familyOf(address));
      }
    }
    for (const family of families) {
      for (const [id, { packets }] of await this.#options.driver.counters(
        setNames.counts(family),
        signal,
      )) {
        const key = byId.get(id);
        if (key !== undefined) counts.set(key, packets);
      }
    }
    return counts;
  }
}
