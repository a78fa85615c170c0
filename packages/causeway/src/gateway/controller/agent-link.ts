import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Acknowledgement, OlderRecord } from '../protocol/acknowledgement.ts';
import { endpointKey, type EndpointKey } from '../protocol/endpoint.ts';
import { endpointIdOf } from '../protocol/records.ts';
import { commonRevision, revisions } from '../protocol/revision.ts';
import { writeDelta, writeState } from '../protocol/write-update.ts';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Random } from '@causeway/base/simulation/random';
import { reasonOf, type AgentClient, type HeardStatus } from './agent-client-contract.ts';
import { Rejections } from './rejections.ts';
import type { DesiredState } from './desired-state.ts';
import { WithheldRemovals, type RemovalVerdict } from './withheld-removals.ts';

export interface AgentLinkOptions {
  readonly name: string;
  readonly agent: AgentClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** One push takes no longer than this. */
  readonly limitMs: number;
  /** Asked again this often, also when nothing has changed, to notice an agent that lost its state. */
  readonly checkEveryMs: number;
  /** The UID of the cluster that we speak for, where it is known. */
  readonly cluster?: string | undefined;
  /** Makes the wanted generation larger than this one, which the gateway has already. */
  readonly goBeyond: (generation: number) => void;
  /** Called after each answer and each failure. */
  readonly onChange: () => void;
  readonly onPush: (outcome: 'taken' | 'failed') => void;
  /** Called with the endpoints that it has begun or ceased to complain about. */
  readonly onComplaints: (endpoints: ReadonlySet<EndpointKey>) => void;
  /** Called with frontends that an operator let the gateway lose: the others may lose them, too. */
  readonly onReleased: (endpoints: ReadonlySet<EndpointKey>) => void;
}

const pace: BackoffPolicy = { baseMs: 250, maxMs: 15_000, jitter: 0.3 };

/**
 * The way to one gateway. It pushes what the gateway lacks, tries again with a growing delay, and
 * remembers what was confirmed. A gateway that hangs holds up nobody but itself.
 */
export class AgentLink {
  readonly #options: AgentLinkOptions;
  #confirmed = 0;
  #reported = 0;
  #older: readonly OlderRecord[] = [];
  readonly #complaints = new Rejections();
  #failure: CausewayError | undefined;
  #failures = 0;
  #failingSince: number | undefined;
  /** What both sides understand. An agent may be a version ahead of us, or behind. */
  #revision: number | undefined;
  /** What it has was written in another revision, and may say less than the new one could. */
  #isOtherRevision = false;
  #writtenIn: number | undefined;
  /** How many endpoints it said that it serves. */
  #serves = 0;
  /** It withholds removals until we confirm them. An older version rejects the whole update instead. */
  #withholds = false;
  readonly #removals = new WithheldRemovals();
  /** It may have more than we told it, so the next update is the full state. */
  #needsWhole = false;
  #wake: (() => void) | undefined;

  constructor(options: AgentLinkOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /**
   * The generation of ours that it has taken and still has; 0 while it has anything else. An operator's
   * undo, or a controller before us, makes generations too, and what those hold is not known here.
   */
  get confirmed(): number {
    return this.#confirmed;
  }

  /** The generation that it says it has, whoever made it; 0 while it has not been heard. */
  get reported(): number {
    return this.#reported;
  }

  /** What it says is wrong with each endpoint, and with what belongs to none. */
  get complaints(): Rejections {
    return this.#complaints;
  }

  /** Why it can't be reached or refuses, if so. */
  get failure(): CausewayError | undefined {
    return this.#failure;
  }

  /** How long it has not taken what it was sent, or not answered; undefined while it does. */
  get downForMs(): number | undefined {
    if (this.#failingSince === undefined) return undefined;
    return this.#options.clock.monotonic() - this.#failingSince;
  }

  /** The removals that it withholds, or rejects updates for. */
  get removals(): WithheldRemovals {
    return this.#removals;
  }

  /** Takes the verdict on what it withholds, and acts on it. */
  judge(verdict: RemovalVerdict): void {
    this.#removals.judge(verdict);
    this.nudge();
  }

  /** Whether it may still serve the address although the state no longer has it. */
  stillServes(address: string): boolean {
    return this.#older.some((record) => record.address === address);
  }

  /** Asks which generation it has. False while it can't be reached. */
  async greet(signal: AbortSignal, limitMs = this.#options.limitMs): Promise<boolean> {
    const { clock, agent, name } = this.#options;
    const askedAt = clock.monotonic();
    try {
      const status = await withDeadline(
        clock,
        limitMs,
        signal,
        `asking the agent ${name}`,
        (inner) => agent.status(inner),
      );
      this.#serves = status.endpoints;
      this.#isAt(status.generation);
      this.#older = status.older;
      this.#withholds = status.withheld !== undefined;
      this.#noticeReleased(status);
      this.#agreeOn(commonRevision(revisions, status.revisions));
      this.#options.onChange();
      return true;
    } catch (error) {
      this.#failed(error, askedAt, signal);
      return false;
    }
  }

  #agreeOn(revision: number): void {
    this.#isOtherRevision ||= this.#writtenIn !== undefined && this.#writtenIn !== revision;
    this.#revision = revision;
  }

  /** There is something new to push. One that fails is not asked sooner for it: it gets the whole later. */
  nudge(): void {
    if (this.#failures === 0) this.#wake?.();
  }

  #isAt(generation: number): void {
    this.#reported = generation;
    if (generation !== this.#confirmed) this.#confirmed = 0;
  }

  /**
   * The generation that it has, told while nothing is under way. One beyond ours is an operator's, or that of a
   * controller that took itself for the leader, as one does whose machine was suspended: it gets ours again.
   */
  heard(status: HeardStatus): void {
    if (this.#wake === undefined || this.#confirmed === 0) return;
    const { generation } = status;
    const isReleased = this.#noticeReleased(status);
    if (generation > this.#confirmed) this.#isAt(generation);
    else if (!isReleased) return;
    this.nudge();
    this.#options.onChange();
  }

  /** An operator has allowed removals on the gateway itself: it withholds less than it told us. */
  #noticeReleased({ generation, withheld }: HeardStatus): boolean {
    if (withheld === undefined || generation !== this.#confirmed) return false;
    const now = new Set(withheld.flatMap((record) => endpointIdOf(record) ?? []).map(endpointKey));
    const released = [...this.#removals.frontends.keys()].filter((key) => !now.has(key));
    if (released.length === 0) return false;
    this.#removals.take(withheld);
    this.#needsWhole ||= this.#removals.frontends.size === 0;
    this.#options.onReleased(new Set(released));
    return true;
  }

  /** Asks whether it still has what it confirmed; not while it is being told something else. */
  async check(signal: AbortSignal): Promise<void> {
    if (this.#wake === undefined || this.#failures > 0) return;
    const status = await this.#limited('asking', signal, (inner) =>
      this.#options.agent.status(inner),
    );
    this.heard(status);
  }

  async run(state: DesiredState, signal: AbortSignal): Promise<void> {
    const { clock, checkEveryMs, random } = this.#options;
    const onAbort = () => this.#wake?.();
    signal.addEventListener('abort', onAbort, { once: true });
    // A gateway may have been changed while nobody watched: the first push is the whole.
    let isWhole = false;
    while (!signal.aborted) {
      if (this.#needsWhole) isWhole = false;
      const confirmable = isWhole ? this.#confirmable(state) : undefined;
      if (confirmable !== undefined) {
        await this.#confirmRemovals(confirmable, signal);
      } else if (!isWhole || this.#confirmed < state.generation || this.#failure !== undefined) {
        isWhole = await this.#push(state, isWhole, signal);
      } else if (await this.greet(signal)) {
        isWhole = this.#isCurrent(state);
      }
      const delay =
        this.#failures > 0
          ? backoffDelay(pace, this.#failures, random)
          : this.#isBehind(state)
            ? 0
            : checkEveryMs;
      // Who was stopped while it spoke with the gateway has nobody left to wake it.
      if (delay > 0 && !signal.aborted) await this.#sleep(clock, delay);
    }
    signal.removeEventListener('abort', onAbort);
  }

  #isBehind(state: DesiredState): boolean {
    const isUpToDate = this.#confirmed >= state.generation && !this.#needsWhole;
    return !isUpToDate || this.#confirmable(state) !== undefined;
  }

  /** The verified removals, where the gateway has what we think it has. */
  #confirmable(state: DesiredState) {
    if (this.#confirmed === 0 || this.#failure !== undefined) return undefined;
    return this.#removals.confirmable((key) => state.wants(key));
  }

  async #confirmRemovals(
    verified: { readonly cluster: string | undefined; readonly endpoints: Set<EndpointKey> },
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, clock, log, onChange } = this.#options;
    const askedAt = clock.monotonic();
    this.#removals.forgetVerdicts();
    try {
      const answer = await this.#limited('confirming removals to', signal, async (inner) =>
        agent.confirmRemovals?.({ generation: this.#confirmed, ...verified }, inner),
      );
      if (answer === undefined) return;
      log.info({ agent: this.name, count: verified.endpoints.size }, 'confirmed removals');
      this.#older = answer.older;
      this.#removals.take(answer.withheld ?? []);
      // What else was kept for their sake, such as network policies, goes with the full state.
      this.#needsWhole = this.#removals.frontends.size === 0;
      onChange();
    } catch (error) {
      const { message } = CausewayError.from(error);
      if (reasonOf(error) === 'another-cluster') {
        for (const key of verified.endpoints) this.#removals.doubt(key, message);
        onChange();
        return;
      }
      this.#needsWhole = true;
      this.#failed(error, askedAt, signal);
    }
  }

  #isCurrent(state: DesiredState): boolean {
    return this.#confirmed === state.generation && !this.#isOtherRevision;
  }

  async #push(state: DesiredState, isWhole: boolean, signal: AbortSignal): Promise<boolean> {
    // One that was changed for another version meanwhile may understand another revision.
    const isUnsure = this.#revision === undefined || this.#failure !== undefined;
    if (isUnsure && !(await this.greet(signal))) return false;
    if (this.#failure !== undefined && this.#isCurrent(state)) {
      this.#succeeded();
      return true;
    }
    const base =
      isWhole &&
      this.#confirmed > 0 &&
      !this.#isOtherRevision &&
      state.canStartFrom(this.#confirmed)
        ? this.#confirmed
        : undefined;
    // It takes nothing that is not newer than what it has.
    if (this.#reported >= state.generation) this.#options.goBeyond(this.#reported);
    const revision = this.#revision ?? revisions.oldest;
    const { generation } = state;
    const meansRemoval = this.#removals.isRejectionVerified((key) => state.wants(key));
    // An agent that withholds removals wants them confirmed one by one, and knows clusters.
    const { cluster } = this.#options;
    const options = { generation, revision, ...(this.#withholds ? { cluster } : { meansRemoval }) };
    const touched = base === undefined ? undefined : state.endpointsSince(base);
    const lines =
      base === undefined
        ? writeState(state.all(), options)
        : writeDelta(state.since(base), { ...options, base });
    const askedAt = this.#options.clock.monotonic();
    try {
      const answer = await this.#limited('pushing', signal, (inner) =>
        this.#options.agent.push(lines, inner),
      );
      this.#writtenIn = revision;
      this.#isOtherRevision = false;
      this.#confirmed = generation;
      this.#reported = answer.generation;
      this.#needsWhole = false;
      this.#takeRemovals(answer, meansRemoval);
      const newRejections = this.#complaints.take(answer.errors, touched);
      this.#options.onPush('taken');
      this.#succeeded();
      if (newRejections.size > 0) this.#options.onComplaints(newRejections);
      return true;
    } catch (error) {
      this.#options.onPush('failed');
      this.#revision = undefined;
      this.#failed(error, askedAt, signal);
      if (reasonOf(error) === 'mass-removal') await this.#listRejected(state, signal);
      // Whatever went wrong with a difference, the whole may go right.
      return false;
    }
  }

  #takeRemovals({ older, withheld = [] }: Acknowledgement, meantRemoval: boolean): void {
    this.#older = older;
    const { isRejection } = this.#removals;
    const gone = this.#removals.take(withheld);
    // It rejected that before, and we have not verified it: an operator has allowed it.
    if (isRejection && !meantRemoval) this.#options.onReleased(new Set(gone.keys()));
  }

  /**
   * Asks an agent of an older version what it serves, to verify what it refuses to lose. A list that is
   * shorter than what it serves proves nothing, nor does one that can't be had.
   */
  async #listRejected(state: DesiredState, signal: AbortSignal): Promise<void> {
    const { agent, log, onChange } = this.#options;
    try {
      const served = await this.#limited('asking', signal, (inner) =>
        agent.counters === undefined ? Promise.resolve([]) : agent.counters(inner),
      );
      const ids = served.flatMap((record) => endpointIdOf(record) ?? []);
      const isWhole = ids.length >= this.#serves && ids.length === served.length;
      const lost = ids.filter((id) => !state.wants(endpointKey(id)));
      this.#removals.reject(isWhole ? lost : []);
      onChange();
    } catch (error) {
      const known = CausewayError.from(error);
      log.warn({ agent: this.name, error: known }, 'the frontends of the agent are not known');
      this.#removals.reject([]);
    }
  }

  #limited<T>(
    what: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, limitMs, name } = this.#options;
    return withDeadline(clock, limitMs, signal, `${what} the agent ${name}`, work);
  }

  #succeeded(): void {
    if (this.#failure !== undefined) {
      this.#options.log.info({ agent: this.name }, 'the agent answers again');
    }
    this.#failure = undefined;
    this.#failingSince = undefined;
    this.#failures = 0;
    this.#options.onChange();
  }

  /** It is silent since it was asked, not since that was noticed. */
  #failed(thrown: unknown, askedAt: number, signal: AbortSignal): void {
    // A lease that was lost aborts as well, and must be paced like any other failure.
    if (signal.aborted) return;
    const error = CausewayError.from(thrown);
    this.#failures += 1;
    this.#failingSince ??= askedAt;
    this.#failure = error;
    this.#options.log.warn({ agent: this.name, error, failures: this.#failures }, 'agent failed');
    this.#options.onChange();
  }

  #sleep(clock: Clock, delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.timer(delayMs, () => this.#wake?.());
      this.#wake = () => {
        timer.cancel();
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
