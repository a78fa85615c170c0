import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Clock, Timer } from '@causeway/base/time/clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import { LayoutWriter, type CommittedLayout } from '@causeway/nftables/compile/layout-writer';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import type { Driver } from '@causeway/nftables/drivers/driver';
import { OwnedAddresses, type OwnershipChange } from './owned-addresses.ts';
import { Commit } from './commit.ts';
import { startReplay, type IdleState, type IdlingDecision } from './holder/decide-idling.ts';
import type { IdlingStage } from './holder/idling-stage.ts';
import { whenParked } from './holder/when-parked.ts';
import { proxyMetrics } from './proxy-metrics.ts';
import type { ProxyProgress } from './proxy-progress.ts';
import type { ProxyStore } from './proxy-store.ts';
import type { CommitSource, Diversion, ServedService } from './served-service.ts';
import { ServiceFindings, type FindingReports } from './service-findings.ts';
import { planService, translatePlan, type ServicePlan } from './service-plan.ts';
import { StaleConnections, type ConnectionTable } from './stale-connections.ts';

export interface ProxyPipelineOptions extends FindingReports {
  readonly store: ProxyStore;
  readonly driver: Driver;
  readonly connections: ConnectionTable;
  readonly layout: LayoutSettings;
  readonly pace: Pace;
  readonly progress: ProxyProgress;
  /** Undefined if this node does not hold connections to idle Services. */
  readonly idling?: IdlingStage | undefined;
  /** Rules are written only after this resolves. By default, only the store must be synced. */
  readonly ready?: Promise<void> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How often rules are written at most, and compared at least. */
export interface Pace {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** A run after an idle period need not wait. */
const burst = 2;
const retryMs = 1000;
/** A transaction takes milliseconds; if none succeeds, the shutdown is not delayed for long. */
const parkPatienceMs = 5_000;

/**
 * Serves the Services of the store from this node. Takes the changed Services, computes their rules stage by
 * stage, and writes one transaction. The cost of a changed Service depends on that Service only.
 */
export class ProxyPipeline implements CommitSource {
  readonly #options: ProxyPipelineOptions;
  readonly #writer: LayoutWriter;
  readonly #runner: BoundedFrequencyRunner;
  readonly #listeners = new Set<(served: readonly ServedService[]) => void>();
  readonly #findings: ServiceFindings;
  readonly #stale: StaleConnections;
  readonly #metrics;
  #owned = new OwnedAddresses();
  readonly #idle = new Map<string, IdleState>();
  /** The Services that are decided again at a time. */
  readonly #rechecks = new Map<string, Timer>();
  /** Services that listeners know as held. */
  readonly #held = new Set<string>();
  /** Services that listeners will know as woken after stale conntrack entries are deleted. */
  readonly #woken = new Map<string, ServedService>();
  #isEnding = false;
  /** The Services that change without a change of the store, and those of a failed transaction. */
  readonly #pending = new Set<string>();
  /** The state of the kernel is uncertain: the next run compares all rules and repairs them. */
  #isInDoubt = true;

  constructor(options: ProxyPipelineOptions) {
    const { store, clock, log, metrics, progress } = options;
    this.#options = options;
    this.#writer = new LayoutWriter(options.driver, options.layout);
    this.#findings = new ServiceFindings(options, log, metrics);
    this.#stale = new StaleConnections(options);
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
    };
    store.onChange(() => this.#request());
    store.slices.onChange((change) => {
      if (change.type !== 'deleted') progress.noteTrigger(change.after);
    });
  }

  /**
   * Call this if another program may have changed the table: the next run compares all of it and repairs it.
   */
  doubt(): void {
    this.#isInDoubt = true;
    this.#request();
  }

  onCommit(listener: (served: readonly ServedService[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Before shutdown: parks new connections to accepted Services, so that they are not refused until the next
   * process accepts them. Resolves once the kernel parks them, or after a timeout.
   */
  parkAccepted(): Promise<void> {
    this.#isEnding = true;
    const accepted = [...this.#idle]
      .filter(([, state]) => state.kind === 'held' && state.way === 'accept')
      .map(([key]) => key);
    const parked = whenParked(this, accepted, this.#options.clock, parkPatienceMs);
    for (const key of accepted) this.#revisit(key);
    return parked;
  }

  /** Writes rules until the signal fires. The rules stay. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, ready } = this.#options;
    const stopped = whenAborted(signal);
    await Promise.race([Promise.all([store.services.synced, store.slices.synced, ready]), stopped]);
    this.#runner.request();
    await this.#runner.loop(signal);
    for (const timer of this.#rechecks.values()) timer.cancel();
  }

  #request(): void {
    this.#options.progress.changed();
    this.#runner.request();
  }

  #revisit(key: string): void {
    this.#pending.add(key);
    this.#request();
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { progress } = this.#options;
    const changed = this.#options.store.takeChanged().union(this.#pending);
    const wasInDoubt = this.#isInDoubt;
    this.#pending.clear();
    this.#isInDoubt = false;
    const run = progress.start(wasInDoubt ? 'all' : 'changes');
    const commit = new Commit();
    let written: CommittedLayout;
    try {
      written = await (wasInDoubt
        ? this.#writeAll(changed, commit, signal)
        : this.#writeChanged(changed, commit, signal));
    } catch (error) {
      // The state of the kernel is uncertain: the next run compares everything.
      this.#isInDoubt = true;
      for (const service of changed) this.#pending.add(service);
      run.failed();
      throw error;
    }
    run.done();
    this.#committed(commit, written, wasInDoubt, signal);
  }

  #committed(
    commit: Commit,
    written: CommittedLayout,
    isFirst: boolean,
    signal: AbortSignal,
  ): void {
    const { store } = this.#options;
    for (const key of commit.touched()) {
      this.#findings.noteLost(key, store.services.get(key), this.#owned.lost(key));
    }
    const served = commit.served(this.#owned);
    this.#startReplays(served);
    const targets = served.flatMap(({ targets: own }) =>
      own.map(({ virtual, serving }) =>
        serving === undefined ? virtual : { ...virtual, serving },
      ),
    );
    const { removedBackends } = written;
    const cleaned = this.#stale.delete({ removedBackends, served: targets, isFirst }, signal);
    const woken = served.filter((one) => !isHeld(one) && this.#held.has(one.service));
    const [held, rest] = [served.filter(isHeld), served.filter((one) => !isHeld(one))];
    // The holder must know of a held Service first. Otherwise it replays packets that the kernel logs to it again, in a
    // loop.
    const others = [...held, ...rest.filter((one) => !woken.includes(one))];
    if (others.length > 0 || woken.length === 0) this.#notify(others);
    if (woken.length > 0) void this.#notifyAfter(cleaned, woken);
  }

  /** A replayed packet must not follow a stale conntrack entry, so the holder learns of a woken Service afterwards. */
  async #notifyAfter(cleaned: Promise<void>, woken: readonly ServedService[]): Promise<void> {
    for (const one of woken) this.#woken.set(one.service, one);
    await cleaned;
    const current = woken.filter((one) => this.#woken.get(one.service) === one);
    if (current.length > 0) this.#notify(current);
  }

  async #writeAll(
    changed: ReadonlySet<string>,
    commit: Commit,
    signal: AbortSignal,
  ): Promise<CommittedLayout> {
    const { store } = this.#options;
    const before = this.#owned;
    this.#owned = new OwnedAddresses();
    // A Service that was deleted in a failed transaction requests no addresses any more, but listeners were not
    // notified yet.
    const deleted = new Set(before.services()).union(changed);
    for (const key of new Set(store.services.keys()).union(deleted)) await this.#place(key, commit);
    const services = [...this.#owned.all()];
    return this.#writer.replaceAll({ services, virtualNetworks: store.serviceNetworks }, signal);
  }

  async #writeChanged(
    changed: ReadonlySet<string>,
    commit: Commit,
    signal: AbortSignal,
  ): Promise<CommittedLayout> {
    const { store } = this.#options;
    for (const key of changed) commit.addChange(await this.#place(key, commit));
    // Their targets may have changed too, so listeners are notified of them as well.
    for (const rival of commit.touched()) {
      if (!commit.has(rival)) commit.addChange(await this.#place(rival, commit));
    }
    const virtualNetworks = store.serviceNetworks;
    return this.#writer.commit({ ...commit.elements(), virtualNetworks }, signal);
  }

  /** Takes one Service through all stages. */
  async #place(key: string, commit: Commit): Promise<OwnershipChange> {
    const { store } = this.#options;
    const plan = this.#plan(key);
    const diversion = await this.#diversionOf(plan);
    const translation = translatePlan(plan, diversion, store.node);
    this.#findings.notePlan(key, plan, translation);
    const { healthCheck, targets } = translation;
    const created = plan.service?.metadata?.creationTimestamp ?? '';
    const rivals = this.#owned.rivals(key);
    const change = this.#owned.replace({ service: key, created, targets });
    commit.add({ service: key, diversion, healthCheck });
    commit.addRivals(rivals.union(this.#owned.rivals(key)));
    return change;
  }

  #plan(key: string): ServicePlan {
    const { store, idling, clock } = this.#options;
    const now = clock.monotonic();
    const before = this.#idle.get(key);
    const isEnding = this.#isEnding;
    const plan = planService(
      store.stateOf(key),
      idling === undefined ? undefined : { before, isEnding, now, graceMs: idling.graceMs },
    );
    this.#keep(key, plan.idling);
    return plan;
  }

  #keep(key: string, { state, recheckAt }: IdlingDecision): void {
    if (state === undefined) this.#idle.delete(key);
    else this.#idle.set(key, state);
    this.#recheckAt(key, recheckAt);
  }

  #recheckAt(key: string, time: number | undefined): void {
    const { clock } = this.#options;
    this.#rechecks.get(key)?.cancel();
    this.#rechecks.delete(key);
    if (time === undefined) return;
    const timer = clock.timer(Math.max(time - clock.monotonic(), 0), () => this.#revisit(key));
    this.#rechecks.set(key, timer);
  }

  async #diversionOf({ service, idling: { state } }: ServicePlan): Promise<Diversion | undefined> {
    const { idling } = this.#options;
    if (state === undefined || service === undefined || idling === undefined) return undefined;
    if (state.kind === 'replaying') return { kind: 'replay' };
    const { logGroup } = idling;
    const listeners = state.way === 'accept' ? await idling.listen(service) : undefined;
    return listeners === undefined
      ? { kind: 'park', logGroup }
      : { kind: 'accept', listeners, logGroup };
  }

  /** The time of a replay starts with the transaction that serves the Service. */
  #startReplays(served: readonly ServedService[]): void {
    for (const { service, diversion } of served) {
      const state = this.#idle.get(service);
      if (diversion?.kind !== 'replay' || state?.kind !== 'replaying') continue;
      if (state.servedAt !== undefined) continue;
      this.#keep(service, startReplay(state, this.#options.clock.monotonic()));
    }
  }

  #notify(served: readonly ServedService[]): void {
    const { store, log } = this.#options;
    this.#metrics.services.set({}, store.services.size);
    const held = [...this.#idle.values()].filter(({ kind }) => kind === 'held');
    this.#metrics.diverted.set({}, held.length);
    for (const one of served) {
      this.#woken.delete(one.service);
      if (isHeld(one)) this.#held.add(one.service);
      else this.#held.delete(one.service);
    }
    for (const listener of this.#listeners) {
      try {
        listener(served);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        log.error({ error }, 'a listener to transactions failed');
      }
    }
  }
}

/** The kernel serves no target of the Service, so no packet can be replayed to it. */
function isHeld({ targets }: ServedService): boolean {
  return targets.length > 0 && targets.every(({ virtual }) => virtual.dispatch.kind !== 'slots');
}
