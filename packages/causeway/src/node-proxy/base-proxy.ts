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
} from './service-proxy.ts';
import { SliceIndex } from './slice-index.ts';
import {
  forgetStaleConnections,
  forgetUnanswered,
  type ConnectionTable,
} from './stale-connections.ts';
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
  /** A Service is left without addresses that it asks for, because other Services have them. */
  readonly recordLost?: (service: Service, lost: readonly LostTarget[]) => void;
  /** A Service is larger than a Service may be, and this node serves nothing of it. */
  readonly recordExcess?: (service: Service, excess: BudgetExcess) => void;
}

/** How often rules may be written, and are looked at when nothing happens. */
export interface Pace {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** A run that comes right after a quiet time need not wait. */
const burst = 2;
const retryMs = 1000;
/** Whoever is there answers within this; a client sends its first packet again after twice as long. */
const answerWithinMs = 500;
const nothing: Translation = { targets: [], problems: [] };

/**
 * Serves Services from this node: what it is told becomes rules, one transaction for all that changed
 * since the last one. A changed Service costs what that Service is worth.
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
  /** What each Service was left without when that was last told. */
  readonly #lost = new Map<string, string>();
  /** The Services that are larger than the budget, with the message that was told. */
  readonly #excess = new Map<string, string>();
  #networks: readonly Prefix[] = [];
  #changed = new Set<string>();
  /** Endpoints whose unanswered tries are about to be forgotten. */
  readonly #givenUp: RemovedEndpoint[] = [];
  /** The kernel may hold something else than we think: everything is compared and put right. */
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

  /** The node has other addresses, or stands in another zone. */
  setNode(node: NodeContext): void {
    this.#node = node;
    for (const service of this.#services.keys()) this.#touch(service);
  }

  /** The networks of all cluster addresses: what goes to one that no Service has is dropped. */
  setServiceNetworks(networks: readonly Prefix[]): void {
    this.#networks = networks;
    this.progress.changed();
    this.#runner.request();
  }

  /** Somebody may have changed our table: compares all of it and puts it right. */
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

  /** Writes rules until the signal fires. They stay. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#synced.promise, whenAborted(signal)]);
    this.#runner.request();
    await this.#runner.loop(signal);
  }

  #touch(service: string): void {
    // A slice without its Service has nothing to be served, and a Service that is gone had something.
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
      // What the kernel holds is not known for sure: next time everything is compared.
      this.#isInDoubt = true;
      for (const service of changed) this.#changed.add(service);
      run.failed();
      throw error;
    }
    run.done();
    const served = [...commit.services].map(([service, part]) => this.#served(service, part));
    for (const service of commit.touched()) this.#recordLost(service);
    // At once: the holder would put packets back that the kernel hands to it again, round and round.
    const held = served.filter(isHeld);
    if (held.length > 0) this.#tell(held);
    // Before anybody else is told: what is replayed must not follow a flow that leads nowhere.
    await this.#forgetStale(written, served, wasInDoubt, signal);
    const others = served.filter((one) => !isHeld(one));
    if (others.length > 0 || held.length === 0) this.#tell(others);
  }

  #writeAll(
    changed: ReadonlySet<string>,
    commit: Commit,
    signal: AbortSignal,
  ): Promise<CommittedLayout> {
    const before = this.#claims;
    this.#claims = new AddressClaims();
    for (const service of this.#services.keys()) this.#translate(service, commit);
    // One that went in a transaction that failed claims nothing any more, and nobody was told yet.
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
    // What they have may be other than before, and is told with them.
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

  /** Tells each excess once. A Service that fits again is forgotten here. */
  #noteExcess(key: string, service: Service | undefined, excess: BudgetExcess | undefined): void {
    const told = this.#excess.get(key);
    if (service === undefined || excess === undefined) this.#excess.delete(key);
    else if (told !== excess.message) {
      this.#excess.set(key, excess.message);
      this.#options.log.warn({ service: key, excess: excess.message }, 'a Service is not served');
      this.#options.recordExcess?.(service, excess);
    }
    this.#metrics.refused.set({}, this.#excess.size);
  }

  /** Once for each thing that it is left without, whoever's change it came from. */
  #recordLost(key: string): void {
    const { log, recordLost } = this.#options;
    const lost = this.#claims.lost(key);
    const told = lost.map(({ target, holder }) => `${serviceKey(target.virtual)} ${holder}`).join();
    if (told === (this.#lost.get(key) ?? '')) return;
    if (told === '') this.#lost.delete(key);
    else this.#lost.set(key, told);
    for (const { target, holder } of lost) {
      const { address, port } = target.virtual;
      log.warn({ service: key, address, port, holder }, 'an address belongs to another');
      this.#metrics.lost.add({});
    }
    const service = this.#services.get(key);
    if (service !== undefined && lost.length > 0) recordLost?.(service, lost);
  }

  #served(service: string, { diversion, translation }: CommitPart): ServedService {
    const { healthCheck } = translation;
    return { service, diversion, targets: this.#claims.held(service), healthCheck };
  }

  #tell(served: readonly ServedService[]): void {
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

  /** The rules are right already; if this fails, flows end by their time-outs. */
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

  /** Tries that these have not answered are forgotten a little later, those of several changes together. */
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
      this.#options.log.error({ error }, 'stale connections were not forgotten');
    }
  }
}

interface CommitPart {
  readonly diversion: Diversion | undefined;
  readonly translation: Translation;
}

/** What a transaction was made of: things may be said while it is under way. */
class Commit {
  readonly services = new Map<string, CommitPart>();
  readonly #rivals = new Set<string>();

  addRivals(rivals: Iterable<string>): void {
    for (const rival of rivals) this.#rivals.add(rival);
  }

  /** Services that may have won or lost an address by it. */
  touched(): Set<string> {
    return this.#rivals.union(new Set(this.services.keys()));
  }
}

/** Nothing of it is served, so there is nothing to put packets back to. */
function isHeld({ targets }: ServedService): boolean {
  return targets.length > 0 && targets.every(({ virtual }) => virtual.dispatch.kind !== 'slots');
}
