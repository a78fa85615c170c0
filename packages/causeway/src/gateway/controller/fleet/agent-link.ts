import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Acknowledgement, OlderRecord } from '../../protocol/acknowledgement.ts';
import { frontendKey, type FrontendKey } from '../../protocol/frontend.ts';
import { frontendIdOf } from '../../protocol/records.ts';
import { commonRevision, revisions } from '../../protocol/revision.ts';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Counter } from '@causeway/base/observability/metrics';
import type { Random } from '@causeway/base/simulation/random';
import { reasonOf, type AgentClient, type HeardStatus } from './agent-client-contract.ts';
import { AgentOutage } from './agent-outage.ts';
import { guardFields } from './guard-fields.ts';
import { Rejections } from './rejections.ts';
import { updateLines, type DesiredState } from './desired-state.ts';
import type { PushGuard } from './pin-relay.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';
import { WithheldRemovals, type RemovalVerdict } from './withheld-removals.ts';

export interface AgentLinkOptions {
  readonly name: string;
  readonly agent: AgentClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The time limit for one push. */
  readonly limitMs: number;
  /** The interval of checks without a change, which detect an agent that lost its state. */
  readonly checkEveryMs: number;
  /** The UID of this controller's cluster, if known. */
  readonly cluster?: string | undefined;
  /** The state that the gateway should have. */
  readonly desired: DesiredState;
  /** Takes the facts about the gateway. */
  readonly reasons: ReasonSink;
  /** Counts pushes by outcome. */
  readonly pushes: Counter<'gateway' | 'outcome'>;
  /** Takes part in every push. */
  readonly guard?: PushGuard;
}

type FrontendReasonKind = 'rejection-changed' | 'removal-allowed';

const pace: BackoffPolicy = { baseMs: 250, maxMs: 15_000, jitter: 0.3 };

/**
 * The connection to one gateway. It pushes missing changes, retries with a growing delay, and keeps the
 * confirmed generation. A hung gateway does not delay the others.
 */
export class AgentLink {
  readonly #options: AgentLinkOptions;
  #confirmed = 0;
  #reported = 0;
  #older: readonly OlderRecord[] = [];
  readonly #complaints = new Rejections();
  readonly #outage = new AgentOutage();
  /** The protocol revision that both sides support. An agent can be one version newer or older. */
  #revision: number | undefined;
  /** The gateway's state was written in another revision, which may have less content. */
  #isOtherRevision = false;
  #writtenIn: number | undefined;
  /** The number of frontends that the gateway reports to serve. */
  #serves = 0;
  /** Whether the agent withholds removals. An older version rejects the whole update instead. */
  #withholds = false;
  readonly #removals = new WithheldRemovals();
  /** The gateway may have more than it was sent, so the next update is the full state. */
  #needsWhole = false;
  #wake: (() => void) | undefined;

  constructor(options: AgentLinkOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /**
   * The newest generation of this controller that the gateway has accepted and still has; 0 while it has
   * another state. An operator's undo or an earlier controller also creates generations, and their content is
   * unknown here.
   */
  get confirmed(): number {
    return this.#confirmed;
  }

  /** The generation that the gateway reports, from any source; 0 before its first answer. */
  get reported(): number {
    return this.#reported;
  }

  /** The gateway's rejections by frontend, and its general problems. */
  get complaints(): Rejections {
    return this.#complaints;
  }

  /** Why the gateway can't be reached or rejects updates, if so. */
  get failure(): CausewayError | undefined {
    return this.#outage.failure;
  }

  /** How long the gateway has not accepted an update, or not answered; undefined while it does. */
  get downForMs(): number | undefined {
    return this.#outage.durationMs(this.#options.clock.monotonic());
  }

  /** The removals that the gateway withholds, or because of which it rejects updates. */
  get removals(): WithheldRemovals {
    return this.#removals;
  }

  /** Takes the verdict on withheld removals and acts on it. */
  judge(verdict: RemovalVerdict): void {
    this.#removals.judge(verdict);
    this.nudge();
  }

  /** Whether the gateway may still serve the address after its removal from the state. */
  stillServes(address: string): boolean {
    return this.#older.some((record) => record.address === address);
  }

  /** Reads the gateway's generation. Returns false if it can't be reached. */
  async greet(signal: AbortSignal, limitMs = this.#options.limitMs): Promise<boolean> {
    const { clock, agent } = this.#options;
    const askedAt = clock.monotonic();
    try {
      const ask = (inner: AbortSignal) => agent.status(inner);
      const status = await this.#limited('querying', signal, ask, limitMs);
      this.#serves = status.frontends;
      this.#isAt(status.generation);
      this.#older = status.older;
      this.#withholds = status.withheld !== undefined;
      this.#noticeReleased(status);
      this.#agreeOn(commonRevision(revisions, status.revisions));
      this.#publish();
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

  /** Called after a change of the state. A failing gateway is not retried sooner for it. */
  nudge(): void {
    if (this.#outage.failures === 0) this.#wake?.();
  }

  #isAt(generation: number): void {
    this.#reported = generation;
    if (generation !== this.#confirmed) this.#confirmed = 0;
  }

  /**
   * Takes a generation that the gateway reports while no request is running. A higher generation is from an
   * operator, or from a controller that wrongly believes to lead, as after a suspended machine. The gateway
   * then gets this controller's state again.
   */
  heard(status: HeardStatus): void {
    if (this.#wake === undefined || this.#confirmed === 0) return;
    const { generation } = status;
    const isReleased = this.#noticeReleased(status);
    if (generation > this.#confirmed) this.#isAt(generation);
    else if (!isReleased) return;
    this.nudge();
    this.#publish();
  }

  /** Detects removals that an operator allowed on the gateway: it withholds less than before. */
  #noticeReleased({ generation, withheld }: HeardStatus): boolean {
    if (withheld === undefined || generation !== this.#confirmed) return false;
    const now = new Set(withheld.flatMap((record) => frontendIdOf(record) ?? []).map(frontendKey));
    const released = [...this.#removals.frontends.keys()].filter((key) => !now.has(key));
    if (released.length === 0) return false;
    this.#removals.take(withheld);
    this.#needsWhole ||= this.#removals.frontends.size === 0;
    this.#publishEach('removal-allowed', released);
    return true;
  }

  /** Asks whether the gateway still has the confirmed state, unless an update is running. */
  async check(signal: AbortSignal): Promise<void> {
    if (this.#wake === undefined || this.#outage.failures > 0) return;
    const ask = (inner: AbortSignal) => this.#options.agent.status(inner);
    this.heard(await this.#limited('querying', signal, ask));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, checkEveryMs, random, desired: state } = this.#options;
    const onAbort = () => this.#wake?.();
    signal.addEventListener('abort', onAbort, { once: true });
    // The first push is the full state, because the gateway may have changed while no controller watched.
    let isWhole = false;
    while (!signal.aborted) {
      if (this.#needsWhole) isWhole = false;
      const confirmable = isWhole ? this.#confirmable(state) : undefined;
      if (confirmable !== undefined) {
        await this.#confirmRemovals(confirmable, signal);
      } else if (!isWhole || this.#confirmed < state.generation || this.failure !== undefined) {
        isWhole = await this.#push(state, isWhole, signal);
      } else if (await this.greet(signal)) {
        isWhole = this.#isCurrent(state);
      }
      const { failures } = this.#outage;
      const idleMs = this.#isBehind(state) ? 0 : checkEveryMs;
      const delay = failures > 0 ? backoffDelay(pace, failures, random) : idleMs;
      // After an abort during the request, nothing would end this sleep.
      if (delay > 0 && !signal.aborted) await this.#sleep(clock, delay);
    }
    signal.removeEventListener('abort', onAbort);
  }

  #isBehind(state: DesiredState): boolean {
    const isUpToDate = this.#confirmed >= state.generation && !this.#needsWhole;
    return !isUpToDate || this.#confirmable(state) !== undefined;
  }

  /** The verified removals, if the gateway has the expected state. */
  #confirmable(state: DesiredState) {
    if (this.#confirmed === 0 || this.failure !== undefined) return undefined;
    return this.#removals.confirmable((key) => state.wants(key));
  }

  async #confirmRemovals(
    verified: { readonly cluster: string | undefined; readonly frontends: Set<FrontendKey> },
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, clock, log } = this.#options;
    const askedAt = clock.monotonic();
    this.#removals.forgetVerdicts();
    try {
      const answer = await this.#limited('confirming removals to', signal, async (inner) =>
        agent.confirmRemovals?.({ generation: this.#confirmed, ...verified }, inner),
      );
      if (answer === undefined) return;
      log.info({ agent: this.name, count: verified.frontends.size }, 'confirmed removals');
      this.#older = answer.older;
      this.#removals.take(answer.withheld ?? []);
      // The full state also removes records kept for these frontends, such as network policies.
      this.#needsWhole = this.#removals.frontends.size === 0;
      this.#publish();
    } catch (error) {
      const { message } = CausewayError.from(error);
      if (reasonOf(error) === 'another-cluster') {
        for (const key of verified.frontends) this.#removals.doubt(key, message);
        this.#publish();
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
    // An agent that was upgraded or downgraded in the meantime may support another revision.
    const isUnsure = this.#revision === undefined || this.failure !== undefined;
    if (isUnsure && !(await this.greet(signal))) return false;
    if (this.failure !== undefined && this.#isCurrent(state)) {
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
    // The gateway accepts only a generation newer than its own.
    if (this.#reported >= state.generation) this.#raiseGeneration(state);
    const revision = this.#revision ?? revisions.oldest;
    const { generation } = state;
    const meansRemoval = this.#removals.isRejectionVerified((key) => state.wants(key));
    const facts = { ...this.#options, withholds: this.#withholds, revision, base, meansRemoval };
    const options = { generation, revision, ...guardFields(facts) };
    const { guard } = this.#options;
    const touched = base === undefined ? undefined : state.frontendsSince(base);
    const lines = [...updateLines(state, base, options)];
    const moved = () => (base === undefined ? undefined : state.movedSince(base));
    await guard?.beforePush({ gateway: this.name, generation, lines, moved }, signal);
    const askedAt = this.#options.clock.monotonic();
    try {
      const push = (inner: AbortSignal) => this.#options.agent.push(lines, inner);
      const answer = await this.#limited('pushing', signal, push);
      this.#writtenIn = revision;
      this.#isOtherRevision = false;
      this.#confirmed = generation;
      this.#reported = answer.generation;
      guard?.afterPush(this.name, generation);
      this.#needsWhole = false;
      this.#takeRemovals(answer, meansRemoval);
      const newRejections = this.#complaints.take(answer.errors, touched);
      this.#options.pushes.add({ gateway: this.name, outcome: 'taken' });
      this.#succeeded();
      this.#publishEach('rejection-changed', newRejections);
      return true;
    } catch (error) {
      this.#options.pushes.add({ gateway: this.name, outcome: 'failed' });
      this.#revision = undefined;
      this.#failed(error, askedAt, signal);
      if (reasonOf(error) === 'mass-removal') await this.#listRejected(state, signal);
      // After any failure of a delta, the full state may succeed.
      return false;
    }
  }

  #takeRemovals({ older, withheld = [] }: Acknowledgement, meantRemoval: boolean): void {
    this.#older = older;
    const { isRejection } = this.#removals;
    const gone = this.#removals.take(withheld);
    // The agent rejected this removal before, and it is not verified here: an operator has allowed it.
    if (isRejection && !meantRemoval) this.#publishEach('removal-allowed', gone.keys());
  }

  /**
   * Lists what an agent of an older version serves, to verify the removals that it rejects. An incomplete or
   * missing list proves nothing.
   */
  async #listRejected(state: DesiredState, signal: AbortSignal): Promise<void> {
    const { agent, log } = this.#options;
    try {
      const served = await this.#limited('querying', signal, (inner) =>
        agent.counters === undefined ? Promise.resolve([]) : agent.counters(inner),
      );
      const ids = served.flatMap((record) => frontendIdOf(record) ?? []);
      const isWhole = ids.length >= this.#serves && ids.length === served.length;
      const lost = ids.filter((id) => !state.wants(frontendKey(id)));
      this.#removals.reject(isWhole ? lost : []);
      this.#publish();
    } catch (error) {
      const context = { agent: this.name, error: CausewayError.from(error) };
      log.warn(context, 'could not list the frontends of the agent');
      this.#removals.reject([]);
    }
  }

  #raiseGeneration(state: DesiredState): void {
    state.goBeyond(this.#reported);
    this.#options.reasons.add({ kind: 'generation-raised' });
  }

  /** Publishes that the gateway has answered, or has failed to answer. */
  #publish(): void {
    this.#options.reasons.add({ kind: 'gateway-answered' });
  }

  #publishEach(kind: FrontendReasonKind, frontends: Iterable<FrontendKey>): void {
    for (const frontend of frontends) this.#options.reasons.add({ kind, frontend });
  }

  #limited<T>(
    what: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = this.#options.limitMs,
  ): Promise<T> {
    const { clock, name } = this.#options;
    return withDeadline(clock, limitMs, signal, `${what} the agent ${name}`, work);
  }

  #succeeded(): void {
    if (this.failure !== undefined) {
      this.#options.log.info({ agent: this.name }, 'the agent answers again');
    }
    this.#outage.end();
    this.#publish();
  }

  #failed(thrown: unknown, askedAt: number, signal: AbortSignal): void {
    // A lost lease also aborts, and must be retried with a delay like any other failure.
    if (signal.aborted) return;
    const error = CausewayError.from(thrown);
    this.#outage.fail(error, askedAt);
    const problem = { agent: this.name, error, failures: this.#outage.failures };
    this.#options.log.warn(problem, 'agent failed');
    this.#publish();
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
