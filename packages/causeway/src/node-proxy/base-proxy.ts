import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Prefix } from '@causeway/base/address/prefix';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { BudgetExcess } from '@causeway/kubernetes/objects/service-budget';
import type { Driver } from '@causeway/nftables/drivers/driver';
import type { RemovedEndpoint } from '@causeway/nftables/compile/layout-change';
import { LayoutWriter, type CommittedLayout } from '@causeway/nftables/compile/layout-writer';
import {
  serviceKey,
  type LayoutSettings,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { AddressClaims, type LostTarget } from './address-claims.ts';
import { proxyMetrics } from './proxy-metrics.ts';
import { ProxyProgress } from './proxy-progress.ts';
import {
  holdingOf,
  type Diversion,
  type DivertibleProxy,
  type ServedService,
} from './served-service.ts';
import { SliceIndex } from './slice-index.ts';
import {
  forgetStaleConnections,
  forgetUnanswered,
  type ConnectionTable,
} from './stale-connections.ts';
import { Commit, type CommitPart } from './commit.ts';
import { translateService, type NodeContext, type Translation } from './translate-service.ts';

export interface BaseProxyOptions {
  readonly driver: Driver;
  readonly connections: ConnectionTable;
  readonly layout: LayoutSettings;
  readonly node: NodeContext;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called when other Services hold addresses that a Service requests. */
  readonly reportLost?: (service: Service, lost: readonly LostTarget[]) => void;
  /** Called when a Service exceeds the budget; this node then serves nothing of it. */
  readonly reportExcess?: (service: Service, excess: BudgetExcess) => void;
}

/** How often rules are written at most, and compared at least. */
export interface Pace {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** A run after an idle period need not wait. */
const burst = 2;
const retryMs = 1000;
/** A running endpoint answers within this time; a client repeats its first packet after twice as long. */
const answerWithinMs = 500;
const nothing: Translation = { targets: [], problems: [] };

/**
 * Serves Services from this node: writes rules, one transaction for all changes since the last one. The cost
 * of a changed Service depends on that Service only.
 */
export class BaseProxy implements DivertibleProxy {
  readonly #options: BaseProxyOptions;
  readonly #services = new Map<string, Service>();
  readonly #slices = new SliceIndex();
  readonly #diversions = new Map<string, Diversion>();
  readonly #writer: LayoutWriter;
  readonly #runner: BoundedFrequencyRunner;
  readonly #listeners = new Set<(served: readonly ServedService[]) => void>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #metrics;
  readonly progress: ProxyProgress;
  #node: NodeContext;
  #claims = new AddressClaims();
  /** The lost targets of each Service, as last reported. */
  readonly #lost = new Map<string, string>();
  /** The Services that exceed the budget, with the reported message. */
  readonly #excess = new Map<string, string>();
  #networks: readonly Prefix[] = [];
  #changed = new Set<string>();
  /** Removed endpoints; the unanswered connection attempts to them are about to be deleted. */
  readonly #givenUp: RemovedEndpoint[] = [];
  /** The state of the kernel is uncertain: the next run compares all rules and repairs them. */
  #isInDoubt = true;

  constructor(options: BaseProxyOptions) {
    const { clock, log, metrics } = options;
    this.#options = options;
    this.#node = options.node;
    this.#writer = new LayoutWriter(options.driver, options.layout);
    this.progress = new ProxyProgress(clock, metrics);
    this.#runner = new BoundedFrequencyRunner({
      name: 'service proxy',
      run: (signal) => this.#sync(signal),
      ...options.pace,
      burst,
      retryMs,
      clock,
      log,
    });
    this.#metrics = {
      services: metrics.gauge(proxyMetrics.services),
      diverted: metrics.gauge(proxyMetrics.diverted),
      lost: metrics.counter(proxyMetrics.lostTargets),
      refused: metrics.gauge(proxyMetrics.refusedServices),
      stale: metrics.counter(proxyMetrics.staleConnections),
    };
  }

  setService(service: Service): void {
    const key = keyOf(service);
    this.#services.set(key, service);
    this.#touch(key);
  }

  removeService(key: string): void {
    if (this.#services.delete(key)) this.#touch(key);
  }

  setSlice(slice: EndpointSlice): void {
    for (const service of this.#slices.set(slice)) this.#touch(service);
    this.progress.noteTrigger(slice);
  }

  removeSlice(key: string): void {
    const service = this.#slices.remove(key);
    if (service !== undefined) this.#touch(service);
  }

  divert(service: string, diversion: Diversion | undefined): void {
    if (diversion === undefined) this.#diversions.delete(service);
    else this.#diversions.set(service, diversion);
    this.#touch(service);
  }

  /** Sets the node's addresses and zone. */
  setNode(node: NodeContext): void {
    this.#node = node;
    for (const service of this.#services.keys()) this.#touch(service);
  }

  /**
   * Sets the networks of all cluster addresses. Packets to an address in them that no Service has are
   * dropped.
   */
  setServiceNetworks(networks: readonly Prefix[]): void {
    this.#networks = networks;
    this.progress.changed();
    this.#runner.request();
  }

  /**
   * Call this if another program may have changed the table: the next run compares all of it and repairs it.
   */
  doubt(): void {
    this.#isInDoubt = true;
    this.progress.changed();
    this.#runner.request();
  }

  synced(): void {
    this.#synced.resolve();
  }

  onCommit(listener: (served: readonly ServedService[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes rules until the signal fires. The rules stay. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#synced.promise, whenAborted(signal)]);
    this.#runner.request();
    await this.#runner.loop(signal);
  }

  #touch(service: string): void {
    // A slice without its Service has no rules, but a deleted Service may still have some.
    if (!this.#services.has(service) && !this.#claims.has(service)) return;
    this.#changed.add(service);
    this.progress.changed();
    this.#runner.request();
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const changed = this.#changed;
    const wasInDoubt = this.#isInDoubt;
    this.#changed = new Set();
    this.#isInDoubt = false;
    const run = this.progress.start(wasInDoubt ? 'all' : 'changes');
    const commit = new Commit();
    let written: CommittedLayout;
    try {
      written = await (wasInDoubt
        ? this.#writeAll(changed, commit, signal)
        : this.#writeChanged(changed, commit, signal));
    } catch (error) {
      // The state of the kernel is uncertain: the next run compares everything.
      this.#isInDoubt = true;
      for (const service of changed) this.#changed.add(service);
      run.failed();
      throw error;
    }
    run.done();
    const served = [...commit.services].map(([service, part]) => this.#served(service, part));
    for (const service of commit.touched()) this.#reportLost(service);
    // The holder must know at once. Otherwise it replays packets that the kernel logs to it again, in a loop.
    const held = served.filter(isHeld);
    if (held.length > 0) this.#notify(held);
    // Delete stale entries before the other notifications: a replayed packet must not follow a stale
    // conntrack entry.
    await this.#forgetStale(written, served, wasInDoubt, signal);
    const others = served.filter((one) => !isHeld(one));
    if (others.length > 0 || held.length === 0) this.#notify(others);
  }

  #writeAll(
    changed: ReadonlySet<string>,
    commit: Commit,
    signal: AbortSignal,
  ): Promise<CommittedLayout> {
    const before = this.#claims;
    this.#claims = new AddressClaims();
    for (const service of this.#services.keys()) this.#translate(service, commit);
    // A Service that was deleted in a failed transaction has no claims any more, but listeners were not
    // notified yet.
    for (const service of new Set(before.services()).union(changed)) {
      if (!this.#services.has(service)) this.#translate(service, commit);
    }
    const services = [...this.#claims.all()];
    return this.#writer.replaceAll({ services, virtualNetworks: this.#networks }, signal);
  }

  #writeChanged(
    changed: ReadonlySet<string>,
    commit: Commit,
    signal: AbortSignal,
  ): Promise<CommittedLayout> {
    const set = new Map<ServiceKey, VirtualService>();
    const remove = new Set<ServiceKey>();
    const translate = (service: string) => {
      const change = this.#translate(service, commit);
      for (const [key, virtual] of change.set) {
        set.set(key, virtual);
        remove.delete(key);
      }
      for (const key of change.remove) {
        set.delete(key);
        remove.add(key);
      }
    };
    for (const service of changed) translate(service);
    // Their targets may have changed too, so listeners are notified of them as well.
    for (const rival of commit.touched()) {
      if (!commit.services.has(rival)) translate(rival);
    }
    return this.#writer.commit(
      { set: [...set.values()], remove: [...remove], virtualNetworks: this.#networks },
      signal,
    );
  }

  #translate(key: string, commit: Commit) {
    const service = this.#services.get(key);
    const diversion = this.#diversions.get(key);
    const slices = this.#slices.of(key);
    const translation =
      service === undefined
        ? nothing
        : translateService({ service, slices, diversion, node: this.#node });
    const { log } = this.#options;
    for (const problem of translation.problems) {
      log.warn({ service: key, problem }, 'a part of a Service cannot be served');
    }
    this.#noteExcess(key, service, translation.excess);
    commit.services.set(key, { diversion, translation });
    const created = service?.metadata?.creationTimestamp ?? '';
    const { targets } = translation;
    commit.addRivals(this.#claims.rivals(key));
    const change = this.#claims.replace({ service: key, created, targets });
    commit.addRivals(this.#claims.rivals(key));
    return change;
  }

  /** Reports each excess once. A Service that fits again is removed. */
  #noteExcess(key: string, service: Service | undefined, excess: BudgetExcess | undefined): void {
    const reported = this.#excess.get(key);
    if (service === undefined || excess === undefined) this.#excess.delete(key);
    else if (reported !== excess.message) {
      this.#excess.set(key, excess.message);
      this.#options.log.warn({ service: key, excess: excess.message }, 'a Service is not served');
      this.#options.reportExcess?.(service, excess);
    }
    this.#metrics.refused.set({}, this.#excess.size);
  }

  /** Reports each lost target once, whichever Service's change caused it. */
  #reportLost(key: string): void {
    const { log, reportLost } = this.#options;
    const lost = this.#claims.lost(key);
    const reported = lost
      .map(({ target, holder }) => `${serviceKey(target.virtual)} ${holder}`)
      .join();
    if (reported === (this.#lost.get(key) ?? '')) return;
    if (reported === '') this.#lost.delete(key);
    else this.#lost.set(key, reported);
    for (const { target, holder } of lost) {
      const { address, port } = target.virtual;
      log.warn({ service: key, address, port, holder }, 'another Service has the address');
      this.#metrics.lost.add({});
    }
    const service = this.#services.get(key);
    if (service !== undefined && lost.length > 0) reportLost?.(service, lost);
  }

  #served(service: string, { diversion, translation }: CommitPart): ServedService {
    const { healthCheck } = translation;
    return { service, diversion, targets: this.#claims.held(service), healthCheck };
  }

  #notify(served: readonly ServedService[]): void {
    this.#metrics.services.set({}, this.#services.size);
    const held = [...this.#diversions.values()].filter((each) => holdingOf(each) !== undefined);
    this.#metrics.diverted.set({}, held.length);
    for (const listener of this.#listeners) {
      try {
        listener(served);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        this.#options.log.error({ error }, 'a listener to transactions failed');
      }
    }
  }

  /** The rules are already correct; if this fails, the entries end by their timeouts. */
  async #forgetStale(
    { removedEndpoints }: CommittedLayout,
    services: readonly ServedService[],
    isFirst: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { connections } = this.#options;
    const served = services.flatMap(({ targets }) => targets.map(({ virtual }) => virtual));
    const paths = { removedEndpoints, served, isFirst };
    await this.#forget(() => forgetStaleConnections(connections, paths, signal));
    this.#giveUp(removedEndpoints, signal);
  }

  /**
   * Deletes unanswered connection attempts to these endpoints after a delay, for several changes together.
   */
  #giveUp(removed: readonly RemovedEndpoint[], signal: AbortSignal): void {
    const { connections, clock } = this.#options;
    if (removed.length === 0) return;
    this.#givenUp.push(...removed);
    if (this.#givenUp.length > removed.length) return;
    clock.timer(answerWithinMs, () => {
      const all = this.#givenUp.splice(0);
      if (!signal.aborted) void this.#forget(() => forgetUnanswered(connections, all, signal));
    });
  }

  async #forget(forget: () => Promise<number>): Promise<void> {
    try {
      const count = await forget();
      if (count > 0) this.#metrics.stale.add({}, count);
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (error.code === 'aborted') return;
      this.#options.log.error({ error }, 'stale connections were not deleted');
    }
  }
}

/** The kernel serves no target of the Service, so no packet can be replayed to it. */
function isHeld({ targets }: ServedService): boolean {
  return targets.length > 0 && targets.every(({ virtual }) => virtual.dispatch.kind !== 'slots');
}
