import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { LayoutChange, RemovedEndpoint } from '@causeway/nftables/compile/layout-change';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { RemovalConfirmation } from '../protocol/removal-confirmation.ts';
import type { Acknowledgement } from '../protocol/acknowledgement.ts';
import { acknowledge } from './apply/acknowledge.ts';
import { admit, UpdateRejected } from './apply/admit.ts';
import { confirmedRemovals, withheldIn, type RemovalLimits } from './apply/withhold.ts';
import type { Announcer } from './announce/announcer.ts';
import { applyChange, RollbackFailed } from './apply/apply-change.ts';
import { rejectionsFrom } from './apply/rejection-cause.ts';
import {
  addressesOf,
  frontendsTo,
  toNodes,
  toVirtualService,
  toWholeLayout,
} from './apply/layout-input.ts';
import type { RulesetWriter } from './apply/ruleset-writer.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import type { Overrides } from './overrides.ts';
import type { FrontendKey } from '../protocol/frontend.ts';
import { changesTraffic, inverseOf, type GatewayState } from './store/state.ts';
import type { Step } from './store/change-lines.ts';
import { recordUndo, type StateStore, type Stored } from './store/state-store.ts';
import type { Rejection } from '../protocol/rejection.ts';
import type { Update } from '../protocol/update.ts';

export interface GatewayOptions {
  readonly ruleset: RulesetWriter;
  readonly mover: Announcer;
  readonly store: StateStore;
  readonly stored: Stored;
  readonly overrides: Overrides;
  readonly limits: RemovalLimits;
  /** Backends that were unhealthy when the agent ended. They count as unhealthy until a new probe result. */
  readonly unhealthy?: ReadonlySet<Address>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Deletes connections to removed backends from conntrack. A failure causes no rollback. */
  deleteConnections(removed: readonly RemovedEndpoint[], signal: AbortSignal): Promise<void>;
  /** Deletes conntrack entries of these services that lead to none of their current backends. */
  deleteStaleEntries(services: readonly VirtualService[], signal: AbortSignal): Promise<void>;
}

const applyLimitMs = 60_000;
const longestQueue = 64;
/** Time for replies to packets that were sent to a removed backend that still serves. */
const answerWithinMs = 1_000;

/**
 * The configuration that this gateway serves. All changes are serialized here: updates of either API, an
 * operator's undo, and unhealthy backends.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #serialQueue = new SerialQueue(longestQueue);
  readonly #metrics;
  #unhealthy: ReadonlySet<Address>;
  #isDegraded = true;
  #complaints: readonly Rejection[] = [];
  readonly #cleanup = new SerialQueue();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#unhealthy = options.unhealthy ?? new Set();
    const { metrics } = options;
    this.#metrics = {
      generation: metrics.gauge(gatewayMetrics.generation),
      duration: metrics.histogram(gatewayMetrics.duration),
      frontends: metrics.gauge(gatewayMetrics.frontends),
      kept: metrics.gauge(gatewayMetrics.kept),
      withheld: metrics.gauge(gatewayMetrics.withheld),
      commits: metrics.counter(gatewayMetrics.commits),
      unhealthy: metrics.gauge(gatewayMetrics.unhealthy),
      degraded: metrics.gauge(gatewayMetrics.degraded),
    };
  }

  get state(): GatewayState {
    return this.#options.stored.holder.current;
  }

  get unhealthy(): ReadonlySet<Address> {
    return this.#unhealthy;
  }

  /** Whether the kernel may differ from the accepted configuration. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  /** Rejections of the last accepted update. */
  get complaints(): readonly Rejection[] {
    return this.#complaints;
  }

  get undoSteps(): number {
    return this.#options.stored.undo.length;
  }

  /** Brings the kernel and keepalived to the accepted configuration, at the start and after a failure. */
  restore(signal: AbortSignal): Promise<void> {
    return this.#serialQueue.run(() => this.#restore(signal));
  }

  /** Applies all valid records of an update, or nothing. */
  push(
    digest: string,
    read: (state: GatewayState) => Update,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    return this.#serialQueue.run(() => this.#push(digest, read, signal));
  }

  /**
   * Applies exactly the withheld removals that the controller names and has verified. It verified them
   * against one generation and for one cluster, and the confirmation is valid only for these.
   */
  confirmRemovals(
    { generation, cluster, frontends }: RemovalConfirmation,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    return this.#serialQueue.run(async () => {
      this.#refuseFrozen();
      refuseOtherState(this.state, generation, cluster);
      return this.#applyWithheld(frontends, signal);
    });
  }

  /** An operator allows the currently withheld removals. This uses up the permission if there are any. */
  releaseRemovals(): Promise<void> {
    return this.#serialQueue.run(async () => {
      const withheld = withheldIn(this.state);
      if (withheld.size === 0) return;
      await this.#applyWithheld(withheld, new AbortController().signal);
      await this.#options.overrides.set('removal', undefined);
    });
  }

  async #applyWithheld(keys: Iterable<FrontendKey>, signal: AbortSignal): Promise<Acknowledgement> {
    const change = confirmedRemovals(this.state, keys);
    if (change.frontends.size === 0) return acknowledge(this.state, this.#complaints, false);
    const undo = inverseOf(this.state, change, 0);
    const wrote = await this.#apply({ change, undo, undoes: 0 }, signal);
    this.#options.log.info({ frontends: change.frontends.size }, 'withheld removals are applied');
    return acknowledge(this.state, this.#complaints, wrote);
  }

  #refuseFrozen(): void {
    const frozen = this.#options.overrides.get('frozen');
    if (frozen === undefined) return;
    throw new UpdateRejected(
      'frozen',
      `this gateway is frozen: ${frozen.reason}`,
      'Thaw it first.',
    );
  }

  /** Undoes the last accepted step, and freezes the gateway until an operator thaws it. */
  undo(reason: string, signal: AbortSignal): Promise<Acknowledgement> {
    return this.#serialQueue.run(async () => {
      const { stored, overrides, clock } = this.#options;
      const back = stored.undo.at(-1);
      if (back === undefined) throw new CausewayError('not-found', 'there is no step to undo');
      await overrides.set('frozen', { since: clock.wallTime(), reason });
      const change = { ...back, generation: this.state.generation + 1, digest: '' };
      const wrote = await this.#apply({ change, undo: undefined, undoes: 1 }, signal);
      return acknowledge(this.state, [], wrote);
    });
  }

  /** Removes these backends from the slots, and puts recovered backends back. */
  setUnhealthy(unhealthy: ReadonlySet<Address>, signal: AbortSignal): Promise<void> {
    return this.#serialQueue.run(async () => {
      const changed = this.#unhealthy.symmetricDifference(unhealthy);
      if (changed.size === 0) return;
      await this.#ensureSound(signal);
      const removedEndpoints = await this.#writeUnhealthy(changed, unhealthy, signal);
      this.#unhealthy = unhealthy;
      this.#metrics.unhealthy.set({}, unhealthy.size);
      this.#deleteConnections(removedEndpoints, signal);
    });
  }

  /** Writes all tables or none: if one fails, the others are rolled back. */
  async #writeUnhealthy(
    changed: ReadonlySet<Address>,
    unhealthy: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly RemovedEndpoint[]> {
    const { ruleset } = this.#options;
    const { state } = this;
    const touched = frontendsTo(state.frontends.values(), changed);
    const touchesNodes = [...changed].some((address) => state.nodes.has(address));
    const changeTo = (each: ReadonlySet<Address>): LayoutChange => ({
      set: touched.map((frontend) => toVirtualService(frontend, each)),
      ...(touchesNodes ? { nodes: toNodes(state.nodes.values(), each) } : {}),
    });
    try {
      return (await ruleset.commit(changeTo(unhealthy), signal)).removedEndpoints;
    } catch (error) {
      await ruleset.commit(changeTo(this.#unhealthy), new AbortController().signal).catch(() => {
        this.#isDegraded = true;
        this.#report();
      });
      throw error;
    }
  }

  /** Resolves when no change is running. */
  async idle(): Promise<void> {
    await this.#serialQueue.idle();
    await this.#cleanup.idle();
  }

  async #push(
    digest: string,
    read: (state: GatewayState) => Update,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    const { overrides, limits, clock } = this.#options;
    this.#refuseFrozen();
    const push = read(this.state);
    const isAllowed = overrides.get('removal') !== undefined;
    const admission = admit(this.state, push, digest, { ...limits, isAllowed });
    if (admission.verdict === 'repeated') return acknowledge(this.state, push.complaints, false);
    const { change } = admission;
    this.#complaints = admission.complaints;
    const undo = changesTraffic(change) ? inverseOf(this.state, change, 0) : undefined;
    const started = clock.monotonic();
    const finish = (outcome: string) =>
      this.#metrics.duration.observe({ outcome }, (clock.monotonic() - started) / 1000);
    try {
      const wrote = await this.#apply({ change, undo, undoes: 0 }, signal);
      finish('applied');
      if (admission.usesPermission) await overrides.set('removal', undefined);
      return acknowledge(this.state, admission.complaints, wrote);
    } catch (error) {
      finish('failed');
      throw new ApplyFailed(error, [...admission.complaints, ...rejectionsFrom(error)]);
    }
  }

  async #apply(step: Step, signal: AbortSignal): Promise<boolean> {
    const { ruleset, mover, store, stored, log, clock } = this.#options;
    await this.#ensureSound(signal);
    const persist = (each: Step) => store.append(each);
    try {
      const applied = await withDeadline(clock, applyLimitMs, signal, 'the apply', (limit) =>
        applyChange(this.state, step, this.#unhealthy, { ruleset, mover, persist }, log, limit),
      );
      stored.holder.commit(step.change);
      recordUndo(stored.undo, step);
      if (applied.wrote) this.#metrics.commits.add({});
      this.#deleteConnections(applied.removedEndpoints, signal);
      return applied.wrote;
    } catch (error) {
      if (error instanceof RollbackFailed) this.#isDegraded = true;
      throw error;
    } finally {
      this.#report();
    }
  }

  async #ensureSound(signal: AbortSignal): Promise<void> {
    if (this.#isDegraded) await this.#restore(signal);
  }

  async #restore(signal: AbortSignal): Promise<void> {
    try {
      await this.#bringTo(this.state, signal);
      this.#isDegraded = false;
    } catch (error) {
      this.#isDegraded = true;
      throw error;
    } finally {
      this.#report();
    }
  }

  async #bringTo(state: GatewayState, signal: AbortSignal): Promise<void> {
    const { ruleset, mover } = this.#options;
    const wanted = addressesOf(state.frontends.values());
    const announced = await mover.announced();
    // Addresses that an interrupted step announced are withdrawn before their rules are removed.
    if (!announced.isSubsetOf(wanted)) await mover.announce(announced.intersection(wanted), signal);
    const layout = toWholeLayout(state, this.#unhealthy);
    await ruleset.replaceAll(layout, signal);
    await mover.announce(wanted, signal);
    this.#deleteStaleFlows(layout.set, signal);
  }

  /** Rewrites the stored file after it has grown. This runs between two queued changes. */
  async compactIfNeeded(): Promise<void> {
    const { store, stored } = this.#options;
    if (!store.needsCompaction) return;
    await this.#serialQueue.run(() => store.compact(stored.holder.current, stored.undo));
  }

  /** Runs after the answer, so that the controller doesn't wait for conntrack. */
  #deleteConnections(removed: readonly RemovedEndpoint[], signal: AbortSignal): void {
    const { clock } = this.#options;
    const stillThere = removed.filter(({ isStillThere = false }) => isStillThere);
    this.#deleteNow(
      removed.filter(({ isStillThere = false }) => !isStillThere),
      signal,
    );
    if (stillThere.length === 0) return;
    // A node that has parked a connection replays it at this moment, and its reply needs the conntrack entry.
    clock.timer(answerWithinMs, () => {
      if (!signal.aborted) this.#deleteNow(stillThere, signal);
    });
  }

  /**
   * Deletes conntrack entries that an earlier process could not delete before it ended. Only UDP, because its
   * flows have no end: a TCP connection to a removed backend ends alone, and a connection that an idle
   * Service's node has answered must continue.
   */
  #deleteStaleFlows(services: readonly VirtualService[], signal: AbortSignal): void {
    const endless = services.filter(
      ({ protocol, dispatch }) => protocol === 'UDP' && dispatch.kind === 'slots',
    );
    this.#inBackground(() => this.#options.deleteStaleEntries(endless, signal), signal);
  }

  #deleteNow(removed: readonly RemovedEndpoint[], signal: AbortSignal): void {
    if (removed.length === 0) return;
    this.#inBackground(() => this.#options.deleteConnections(removed, signal), signal);
  }

  #inBackground(work: () => Promise<void>, signal: AbortSignal): void {
    const { log } = this.#options;
    this.#cleanup.run(work).catch((error: unknown) => {
      if (signal.aborted) return;
      log.warn(
        { error: CausewayError.from(error) },
        'conntrack entries of removed backends may remain',
      );
    });
  }

  #report(): void {
    this.#metrics.generation.set({}, this.state.generation);
    this.#metrics.frontends.set({}, this.state.frontends.size);
    this.#metrics.kept.set({}, this.state.kept.size);
    this.#metrics.withheld.set({}, withheldIn(this.state).size);
    this.#metrics.degraded.set({}, this.#isDegraded ? 1 : 0);
  }
}

function refuseOtherState(
  state: GatewayState,
  generation: number,
  cluster: string | undefined,
): void {
  if (generation !== state.generation) {
    throw new UpdateRejected(
      'base-mismatch',
      `the removals were verified against generation ${generation}, but ${state.generation} is served`,
      'Read the status and verify the removals that it lists.',
    );
  }
  if (state.cluster !== undefined && cluster !== state.cluster) {
    throw new UpdateRejected(
      'another-cluster',
      `the frontends belong to the cluster ${state.cluster}, but the controller is of ${cluster ?? 'no cluster'}`,
      'To remove them, run `causeway agent allow-removal` on the gateway.',
    );
  }
}

/** An apply that failed as a whole, with all known errors of single frontends. */
export class ApplyFailed extends CausewayError {
  readonly complaints: readonly Rejection[];

  constructor(cause: unknown, complaints: readonly Rejection[]) {
    const error = CausewayError.from(cause);
    super(error.code, error.message, {
      cause,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
    this.complaints = complaints;
  }
}
