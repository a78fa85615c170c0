import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { LayoutChange, Removed } from '@causeway/nftables/compile/layout-change';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Metrics } from '@causeway/base/observability/metrics';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { RemovalConfirmation } from '../protocol/removal-confirmation.ts';
import type { Acknowledgement } from '../protocol/acknowledgement.ts';
import { acknowledge } from './apply/acknowledge.ts';
import { admit } from './apply/admit.ts';
import { confirmedRemovals, withheldIn, type RemovalLimits } from './apply/withhold.ts';
import type { AddressAnnouncer } from './announce/announcer.ts';
import { applyChange, RollbackFailed, type Applied } from './apply/apply-change.ts';
import { ApplyFailed } from './apply/apply-failed.ts';
import { previewUpdate } from './apply/preview-update.ts';
import { refuseFrozen, refuseInDoubt, refuseOtherState } from './apply/refusals.ts';
import { rejectionsFrom } from './apply/rejection-cause.ts';
import {
  addressesOf,
  frontendsTo,
  toNodes,
  toVirtualService,
  toWholeLayout,
} from './apply/layout-input.ts';
import type { RulesetWriter } from './apply/ruleset-writer.ts';
import { ConntrackCleanup, type ConntrackCleanupOptions } from './conntrack-cleanup.ts';
import { gatewayMetrics } from './metric-definitions.ts';
import type { Overrides } from './overrides.ts';
import type { FrontendKey } from '../protocol/frontend.ts';
import type { AppliedMark } from './store/applied-mark.ts';
import { disownGeneration } from './store/disown-generation.ts';
import { changesTraffic, inverseOf, StateHolder, type GatewayState } from './store/state.ts';
import type { Step } from './store/change-lines.ts';
import { recordUndo, type Stored } from './store/read-steps.ts';
import type { StateStore } from './store/state-store.ts';
import type { Rejection } from '../protocol/rejection.ts';
import type { Update } from '../protocol/update.ts';

export interface GatewayOptions extends ConntrackCleanupOptions {
  readonly ruleset: RulesetWriter;
  readonly announcer: AddressAnnouncer;
  readonly store: StateStore;
  readonly stored: Stored;
  /**
   * Why the kernel may have a newer configuration than `stored`. The agent then leaves the rules and addresses
   * that it finds until an update arrives.
   */
  readonly doubt?: string | undefined;
  readonly mark?: Pick<AppliedMark, 'write'>;
  readonly overrides: Overrides;
  readonly limits: RemovalLimits;
  /** Backends that were unhealthy when the agent ended. They count as unhealthy until a new probe result. */
  readonly unhealthy?: ReadonlySet<Address>;
  readonly metrics: Metrics;
}

const applyLimitMs = 60_000;
const longestQueue = 64;

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
  #doubt: string | undefined;
  /** Whether the kernel had rules at the first restore; undefined before it. */
  #foundRules: boolean | undefined;
  readonly #cleanup: ConntrackCleanup;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#cleanup = new ConntrackCleanup(options);
    this.#unhealthy = options.unhealthy ?? new Set();
    this.#doubt = options.doubt;
    if (options.doubt !== undefined) disownGeneration(options.stored);
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

  /** Why this gateway waits for an update to learn its configuration; undefined if it knows it. */
  get doubt(): string | undefined {
    return this.#doubt;
  }

  /** Why the accepted configuration is not on disk; undefined if it is. */
  get storeProblem(): string | undefined {
    return this.#options.store.problem;
  }

  /** Rejections of the last accepted update. */
  get complaints(): readonly Rejection[] {
    return this.#complaints;
  }

  get undoSteps(): number {
    return this.#options.stored.undo.length;
  }

  /** Brings the kernel and the announcer to the accepted configuration, at the start and after a failure. */
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

  /** The change of the rules that this update would make. */
  preview(digest: string, update: Update): LayoutChange {
    const { overrides, limits } = this.#options;
    if (this.#doubt !== undefined) return {};
    const admission = { ...limits, isAllowed: overrides.get('removal') !== undefined };
    return previewUpdate(this.state, update, digest, admission, this.#unhealthy);
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
      refuseFrozen(this.#options.overrides.get('frozen'));
      refuseInDoubt(this.#doubt);
      refuseOtherState(this.state, generation, cluster);
      return this.#applyWithheld(frontends, signal);
    });
  }

  /** Applies withheld removals of a `/v1` controller, which can't confirm them. */
  applyRemovals(keys: ReadonlySet<FrontendKey>): Promise<void> {
    return this.#serialQueue.run(async () => {
      if (this.#doubt !== undefined || this.#options.overrides.get('frozen') !== undefined) return;
      // An update that was applied in between may want some of them again.
      await this.#applyWithheld(keys, new AbortController().signal);
    });
  }

  /** An operator allows the currently withheld removals. This uses up the permission if there are any. */
  releaseRemovals(): Promise<void> {
    return this.#serialQueue.run(async () => {
      const withheld = withheldIn(this.state);
      if (withheld.size === 0 || this.#doubt !== undefined) return;
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

  /** Undoes the last accepted step, and freezes the gateway until an operator thaws it. */
  undo(reason: string, signal: AbortSignal): Promise<Acknowledgement> {
    return this.#serialQueue.run(async () => {
      const { stored, overrides, clock } = this.#options;
      refuseInDoubt(this.#doubt);
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
      // Rules of an unknown configuration can't be changed. The update that ends the doubt includes the change.
      const removedBackends = this.#keepsRules
        ? []
        : await this.#writeUnhealthy(changed, unhealthy, signal);
      this.#unhealthy = unhealthy;
      this.#metrics.unhealthy.set({}, unhealthy.size);
      this.#cleanup.afterRemoval(removedBackends, signal);
    });
  }

  /** Writes all tables or none: if one fails, the others are rolled back. */
  async #writeUnhealthy(
    changed: ReadonlySet<Address>,
    unhealthy: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly Removed[]> {
    const { ruleset } = this.#options;
    const { state } = this;
    const touched = frontendsTo(state.frontends.values(), changed);
    const touchesNodes = [...changed].some((address) => state.nodes.has(address));
    const changeTo = (each: ReadonlySet<Address>): LayoutChange => ({
      set: touched.map((frontend) => toVirtualService(frontend, each)),
      ...(touchesNodes ? toNodes(state.nodes.values(), each) : {}),
    });
    try {
      return (await ruleset.commit(changeTo(unhealthy), signal)).removedBackends;
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
    refuseFrozen(this.#options.overrides.get('frozen'));
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
    const { store, stored, clock, mark, log } = this.#options;
    await this.#ensureSound(signal);
    try {
      const applied = await withDeadline(clock, applyLimitMs, signal, 'the apply', (limit) =>
        this.#keepsRules ? this.#applyWhole(step, limit) : this.#applyStep(step, limit),
      );
      stored.holder.commit(step.change);
      recordUndo(stored.undo, step);
      this.#doubt = undefined;
      await mark?.write(step.change.generation).catch((error: unknown) => {
        log.warn({ error: CausewayError.from(error) }, "the applied generation can't be written");
      });
      if (store.problem !== undefined) log.warn({ problem: store.problem }, 'applied, not stored');
      if (applied.wrote) this.#metrics.commits.add({});
      this.#cleanup.afterRemoval(applied.removedBackends, signal);
      return applied.wrote;
    } catch (error) {
      if (error instanceof RollbackFailed) this.#isDegraded = true;
      throw error;
    } finally {
      this.#report();
    }
  }

  #applyStep(step: Step, signal: AbortSignal): Promise<Applied> {
    const { ruleset, announcer, store, log } = this.#options;
    const persist = (each: Step) => store.append(each);
    return applyChange(
      this.state,
      step,
      this.#unhealthy,
      { ruleset, announcer, persist },
      log,
      signal,
    );
  }

  /** Brings rules of an unknown configuration to the state after the step, without the state before it. */
  async #applyWhole(step: Step, signal: AbortSignal): Promise<Applied> {
    const next = new StateHolder();
    next.commit(this.state);
    next.commit(step.change);
    await this.#bringTo(next.current, signal);
    await this.#options.store.append(step);
    return { wrote: true, removedBackends: [] };
  }

  async #ensureSound(signal: AbortSignal): Promise<void> {
    if (this.#isDegraded) await this.#restore(signal);
  }

  async #restore(signal: AbortSignal): Promise<void> {
    try {
      if (this.#doubt !== undefined) {
        this.#foundRules ??= await this.#options.ruleset.isPresent(signal);
      }
      if (this.#keepsRules) await this.#keepAnnounced(signal);
      else await this.#bringTo(this.state, signal);
      this.#isDegraded = false;
    } catch (error) {
      this.#isDegraded = true;
      throw error;
    } finally {
      this.#report();
    }
  }

  /** The rules and addresses of an unknown configuration stay until an update arrives. */
  get #keepsRules(): boolean {
    return this.#doubt !== undefined && this.#foundRules === true;
  }

  async #keepAnnounced(signal: AbortSignal): Promise<void> {
    const { announcer } = this.#options;
    await announcer.announce(await announcer.announced(), signal);
  }

  async #bringTo(state: GatewayState, signal: AbortSignal): Promise<void> {
    const { ruleset, announcer } = this.#options;
    const wanted = addressesOf(state.frontends.values());
    const announced = await announcer.announced();
    // Addresses that an interrupted step announced are withdrawn before their rules are removed.
    const unwanted = announced.difference(wanted);
    if (unwanted.size > 0) await announcer.withdraw(unwanted, signal);
    const layout = toWholeLayout(state, this.#unhealthy);
    await ruleset.replaceAll(layout, signal);
    await announcer.announce(wanted, signal);
    this.#cleanup.afterStart(layout.set, signal);
  }

  /** Rewrites the stored file after it has grown. This runs between two queued changes. */
  async compactIfNeeded(): Promise<void> {
    const { store, stored } = this.#options;
    if (!store.needsCompaction) return;
    await this.#serialQueue.run(() => store.compact(stored.holder.current, stored.undo));
  }

  #report(): void {
    this.#metrics.generation.set({}, this.state.generation);
    this.#metrics.frontends.set({}, this.state.frontends.size);
    this.#metrics.kept.set({}, this.state.kept.size);
    this.#metrics.withheld.set({}, withheldIn(this.state).size);
    this.#metrics.degraded.set({}, this.#isDegraded ? 1 : 0);
  }
}
