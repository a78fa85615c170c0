import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { untilAborted } from '@causeway/base/time/until-aborted';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { frontendKey, type FrontendId, type FrontendKey } from '../../protocol/frontend.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';
import type { PinDelta } from '../../protocol/pins.ts';
import type { AgentClient, PinClient } from './agent-client-contract.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { sendPins, type Handover } from './pin-handover.ts';
import { PreparedGenerations } from './prepared-generations.ts';

/** An update that is about to be sent to a gateway. */
export interface PendingUpdate {
  readonly gateway: string;
  readonly generation: number;
  readonly lines: readonly string[];
  /** The frontends with backends that may change; undefined if the full state does not say it. */
  moved(): ReadonlySet<FrontendKey> | undefined;
}

/** Takes part in every push to a gateway. */
export interface PushGuard {
  /** Resolves when the update may be sent. Never rejects, and takes a second at most. */
  beforePush(update: PendingUpdate, signal: AbortSignal): Promise<void>;
  afterPush(gateway: string, generation: number): void;
}

export interface PinRelayOptions {
  readonly agents: ReadonlyMap<string, AgentClient>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limitMs: number;
  readonly reasons: ReasonSink;
  /** The status of a gateway; undefined while it does not answer. */
  statusOf(gateway: string): AgentStatus | undefined;
}

/** An update waits this long for the acknowledgement of its pins. */
const acknowledgeWithinMs = 1_000;
/** A status from before the first update counts this long. */
const firstStatusMs = 5_000;

/**
 * Hands pins from the gateway that carries the connections to all others: before the slots change, after it,
 * and at intervals. docs/nftables.md describes the phases.
 */
export class PinRelay implements PushGuard {
  readonly #options: PinRelayOptions;
  readonly #runner: BoundedFrequencyRunner;
  readonly #prepared = new PreparedGenerations();
  /** By the names of both gateways. */
  readonly #handovers = new Map<string, Handover>();
  readonly #queues = new Map<string, SerialQueue>();
  readonly #gauge;
  /** Gateways that have not acknowledged their last pins. */
  readonly #late = new Set<string>();
  /** Frontends that changed without acknowledged pins, with the generation of the change. */
  readonly #unsafe = new Map<FrontendKey, number>();
  /** The status of each gateway before its stream is open. */
  readonly #first = new Map<string, AgentStatus>();
  #firstUntil = Number.NEGATIVE_INFINITY;
  #learning: Promise<void> | undefined;
  /** The generation that each gateway has confirmed. */
  readonly #confirmed = new Map<string, number>();

  constructor(options: PinRelayOptions) {
    this.#options = options;
    this.#gauge = options.metrics.gauge(fleetMetrics.pinsMissing);
    this.#runner = new BoundedFrequencyRunner({
      name: 'hand pins over',
      run: (signal) => this.#pass(signal),
      minIntervalMs: 100,
      burst: 5,
      maxIntervalMs: 2_000,
      retryMs: 1_000,
      clock: options.clock,
      log: options.log,
    });
  }

  loop(signal: AbortSignal): Promise<void> {
    return this.#runner.loop(signal);
  }

  /** Requests a pass: the slots of a gateway may have changed by its own probes. */
  request(): void {
    this.#runner.request();
  }

  /** Whether the gateway has not acknowledged its last pins. */
  isLate(gateway: string): boolean {
    return this.#late.has(gateway);
  }

  /** Why running connections of these frontends may not survive a failover; undefined if they do. */
  riskOf(frontends: Iterable<FrontendId>): string | undefined {
    const isUnsafe = [...frontends].some((each) => this.#unsafe.has(frontendKey(each)));
    if (!isUnsafe) return undefined;
    const names = this.#lacking().join(', ') || 'a gateway';
    return `Not failover-safe: ${names} has not acknowledged the pins of running connections`;
  }

  async beforePush(update: PendingUpdate, signal: AbortSignal): Promise<void> {
    await this.#learnRoles(signal);
    const sources = this.#sources();
    if (sources.length === 0) return;
    try {
      if (sources.includes(update.gateway)) await this.#prepare(update, signal);
      else await this.#awaitSources(sources, update, signal);
    } catch (error) {
      if (signal.aborted) return;
      const { gateway, generation } = update;
      const problem = { gateway, generation, error: CausewayError.from(error) };
      this.#options.log.warn(problem, 'slots change without acknowledged pins');
      this.#markUnsafe(update.moved() ?? [], generation);
    }
  }

  afterPush(gateway: string, generation: number): void {
    this.#confirmed.set(gateway, generation);
    if (this.#sources().includes(gateway)) this.#runner.request();
  }

  /** The gateways that carry connections. */
  #sources(): string[] {
    const known = [...this.#options.agents.keys()].flatMap((name) => {
      const status = this.#statusOf(name);
      return status?.pins === undefined ? [] : [{ name, ...status.announcer }];
    });
    // A gateway that has lost power seems active until its stream ends.
    const [active] = known
      .filter(({ role }) => role === 'active')
      .sort((left, right) => (right.since ?? '').localeCompare(left.since ?? ''));
    const foreign = known.filter(({ role }) => role === 'foreign');
    return [...(active === undefined ? [] : [active]), ...foreign].map(({ name }) => name);
  }

  #statusOf(name: string): AgentStatus | undefined {
    const isFresh = this.#options.clock.monotonic() < this.#firstUntil;
    return this.#options.statusOf(name) ?? (isFresh ? this.#first.get(name) : undefined);
  }

  /** Before the first update, no status stream may be open yet. */
  #learnRoles(signal: AbortSignal): Promise<void> {
    const { agents, clock } = this.#options;
    this.#learning ??= (async () => {
      const withPins = [...agents].filter(([, { pins }]) => pins !== undefined);
      await Promise.allSettled(
        withPins.map(([name, agent]) =>
          withDeadline(clock, acknowledgeWithinMs, signal, 'querying', async (inner) => {
            this.#first.set(name, await agent.status(inner));
          }),
        ),
      );
      this.#firstUntil = clock.monotonic() + firstStatusMs;
    })();
    return this.#learning;
  }

  /** The first phase: all gateways have the pins of the connections that the update moves. */
  async #prepare(update: PendingUpdate, signal: AbortSignal): Promise<void> {
    const { agents, clock } = this.#options;
    const { gateway, lines, generation } = update;
    const { pins } = agents.get(gateway) ?? {};
    try {
      await withDeadline(
        clock,
        acknowledgeWithinMs,
        signal,
        'pinning connections',
        async (inner) => {
          const moved = await pins?.prepare(lines, inner);
          if (this.#lacking().length > 0) this.#markUnsafe(moved ?? [], generation);
          await this.#handOver(gateway, inner, this.#late);
        },
      );
    } finally {
      this.#prepared.reach(gateway, generation);
    }
  }

  /** The gateways that lack pins: they have not acknowledged them, or do not answer at all. */
  #lacking(): string[] {
    return [...this.#options.agents]
      .filter(([name, { pins }]) => pins !== undefined && this.#isLacking(name))
      .map(([name]) => name);
  }

  #isLacking(name: string): boolean {
    return this.#late.has(name) || this.#statusOf(name) === undefined;
  }

  async #awaitSources(
    sources: readonly string[],
    { gateway, generation }: PendingUpdate,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#options;
    await withDeadline(clock, acknowledgeWithinMs, signal, 'pinning connections', async (inner) => {
      for (const source of sources) {
        const isConfirmed = (this.#confirmed.get(source) ?? 0) >= generation;
        if (!isConfirmed) await this.#prepared.next(source, generation, inner);
        // A gateway that returns gets the pins before its slots change.
        else await this.#handOverTo(source, gateway, inner);
      }
    });
  }

  /** The second phase, and the renewal at intervals. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { clock, limitMs } = this.#options;
    const confirmed = new Map(this.#confirmed);
    const sources = this.#sources();
    for (const source of sources) {
      await withDeadline(clock, limitMs, signal, 'handing pins over', (inner) =>
        this.#handOver(source, inner, new Set()),
      );
    }
    if (sources.length > 0 && this.#lacking().length === 0) {
      this.#clearUnsafe(Math.min(...sources.map((name) => confirmed.get(name) ?? 0)));
    }
  }

  /** Hands the pins over to all gateways that answer, and waits for all but the excluded ones. */
  async #handOver(
    source: string,
    signal: AbortSignal,
    notAwaited: ReadonlySet<string>,
  ): Promise<void> {
    const targets = [...this.#options.agents.keys()].filter((name) => name !== source);
    const awaited = targets.filter((name) => !notAwaited.has(name));
    const results = await Promise.allSettled(
      awaited.map((target) => this.#handOverTo(source, target, signal)),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** One after another for each pair of gateways, because a later change must not be overtaken. */
  #handOverTo(source: string, target: string, signal: AbortSignal): Promise<void> {
    const key = `${source} ${target}`;
    const queue = this.#queues.get(key) ?? new SerialQueue();
    this.#queues.set(key, queue);
    return untilAborted(
      queue.run(() => this.#handOverNext(source, target, signal)),
      signal,
    );
  }

  async #handOverNext(source: string, target: string, signal: AbortSignal): Promise<void> {
    const { agents } = this.#options;
    const [from, to] = [agents.get(source)?.pins, agents.get(target)?.pins];
    const epoch = this.#statusOf(target)?.pins?.epoch;
    // A gateway that does not answer gets the pins when it returns.
    if (from === undefined || to === undefined || epoch === undefined) return;
    const key = `${source} ${target}`;
    const before = this.#handovers.get(key);
    const since = before?.epoch === epoch ? before.cursor : undefined;
    try {
      const delta = await from.collect(since, signal);
      await this.#send(to, delta, signal);
      this.#handovers.set(key, { epoch, cursor: delta.cursor });
      this.#late.delete(target);
    } catch (error) {
      this.#late.add(target);
      throw error;
    } finally {
      this.#gauge.set({ gateway: target }, this.#late.has(target) ? 1 : 0);
    }
  }

  async #send(to: PinClient, delta: PinDelta, signal: AbortSignal): Promise<void> {
    try {
      await sendPins(to, delta, signal);
    } catch (error) {
      const frontends = delta.set.map((pin) => frontendKey({ ...pin, protocol: 'TCP' }));
      this.#markUnsafe(new Set(frontends), 0);
      throw error;
    }
  }

  #markUnsafe(frontends: Iterable<FrontendKey>, generation: number): void {
    for (const frontend of frontends) {
      this.#unsafe.set(frontend, Math.max(generation, this.#unsafe.get(frontend) ?? 0));
      this.#options.reasons.add({ kind: 'failover-safety-changed', frontend });
    }
  }

  /** All gateways have the pins of changes up to this generation. */
  #clearUnsafe(upTo: number): void {
    for (const [frontend, generation] of this.#unsafe) {
      if (generation > upTo) continue;
      this.#unsafe.delete(frontend);
      this.#options.reasons.add({ kind: 'failover-safety-changed', frontend });
    }
  }
}
