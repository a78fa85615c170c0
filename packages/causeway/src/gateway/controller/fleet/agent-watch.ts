import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { isCutOff } from '../../protocol/alarm.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Random } from '@causeway/base/simulation/random';
import type { AgentClient } from './agent-client-contract.ts';
import type { AgentLink } from './agent-link.ts';
import type { HealthView } from './agreed-health.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';

export interface AgentWatchOptions {
  readonly name: string;
  readonly agent: AgentClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The time limit for one request or answer. */
  readonly limitMs: number;
  /** The link to the same gateway, which uses the status too. */
  readonly link: Pick<AgentLink, 'heard'>;
  /** Takes the fact that the status has changed, or that the status stream has ended. */
  readonly reasons: ReasonSink;
}

const pace: BackoffPolicy = { baseMs: 500, maxMs: 15_000, jitter: 0.3 };
/** A stream without data for this long may be dead: the watch sends a request. */
const quietMs = 30_000;
/** The gateway keeps the unhealthy backends for three times as long, and so detects a missing controller. */
const handEveryMs = 10_000;

/**
 * Follows one gateway's status stream, which shows the gateway that a controller is present, and sends it the
 * unhealthy backends. While the stream is down, the gateway uses its own probes, and the controller ignores
 * its results.
 */
export class AgentWatch {
  readonly #options: AgentWatchOptions;
  #status: AgentStatus | undefined;
  #unhealthy: ReadonlySet<Address> = new Set();
  #relief = false;
  /** The agent may have a notice of relief that is not revoked. */
  #hasSentRelief = false;
  #isDue = false;
  #handing: Promise<void> | undefined;
  #stream = new AbortController();

  constructor(options: AgentWatchOptions) {
    this.#options = options;
  }

  /** The agent's status; undefined while the stream is down. */
  get status(): AgentStatus | undefined {
    return this.#status;
  }

  get view(): HealthView | undefined {
    return this.#status === undefined ? undefined : viewOf(this.#status);
  }

  /** The last notice to the gateway: whether another one can serve in its place. */
  get relief(): boolean {
    return this.#relief;
  }

  /** Sends the unhealthy backends, and whether another gateway can serve: at once while the stream is open, else when it is open again. */
  hand(unhealthy: ReadonlySet<Address>, relief: boolean): void {
    this.#unhealthy = unhealthy;
    this.#relief = relief;
    this.#isDue = true;
    if (this.#status === undefined) return;
    this.#handing ??= this.#deliver().finally(() => {
      this.#handing = undefined;
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, name } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      failures += 1;
      try {
        await this.#follow(signal, () => (failures = 0));
      } catch (error) {
        const known = CausewayError.from(error);
        if (!signal.aborted) log.debug({ agent: name, error: known }, "can't follow the agent");
      }
      if (signal.aborted) return;
      await sleep(clock, backoffDelay(pace, Math.max(1, failures), random), signal).catch(() => {});
    }
  }

  async #follow(signal: AbortSignal, onFirst: () => void): Promise<void> {
    const { agent, link } = this.#options;
    this.#stream = new AbortController();
    const both = AbortSignal.any([signal, this.#stream.signal]);
    const quiet = this.#watchQuiet();
    const again = this.#handAgain();
    try {
      for await (const status of agent.events(both)) {
        const isFirst = this.#status === undefined;
        this.#status = status;
        quiet.restart();
        onFirst();
        this.#publish();
        link.heard(status);
        if (isFirst) this.hand(this.#unhealthy, this.#relief);
      }
    } finally {
      quiet.stop();
      again.stop();
      this.#status = undefined;
      this.#stream.abort();
      await this.#handing;
      this.#publish();
    }
  }

  #publish(): void {
    this.#options.reasons.add({ kind: 'gateway-status', gateway: this.#options.name });
  }

  async #deliver(): Promise<void> {
    const { agent, log, name } = this.#options;
    while (this.#isDue && !this.#stream.signal.aborted) {
      this.#isDue = false;
      try {
        await this.#limited((inner) => agent.sendUnhealthy(this.#unhealthy, inner));
        await this.#sendRelief();
      } catch (error) {
        log.debug(
          { agent: name, error: CausewayError.from(error) },
          'could not send the unhealthy backends',
        );
        this.#stream.abort();
      }
    }
  }

  /** An agent without a notice assumes that no other gateway can serve. */
  async #sendRelief(): Promise<void> {
    if (!this.#relief && !this.#hasSentRelief) return;
    const relief = this.#relief;
    this.#hasSentRelief = true;
    await this.#limited(async (inner) => this.#options.agent.sendRelief?.(relief, inner));
    this.#hasSentRelief = relief;
  }

  #handAgain() {
    const { clock } = this.#options;
    const hand = () => {
      if (this.#status !== undefined) this.hand(this.#unhealthy, this.#relief);
      timer = clock.timer(handEveryMs, hand);
    };
    let timer = clock.timer(handEveryMs, hand);
    return { stop: () => timer.cancel() };
  }

  /** Sends a request after a long time without data. Without an answer, the stream is reopened. */
  #watchQuiet() {
    const { clock, agent, limitMs, link } = this.#options;
    const ask = () => {
      if (this.#status === undefined) this.#stream.abort();
      const asking = this.#limited((inner) => agent.status(inner));
      asking.then(
        (status) => {
          restart();
          link.heard(status);
        },
        () => this.#stream.abort(),
      );
    };
    // A working agent sends the first status at once.
    let timer = clock.timer(limitMs, ask);
    const restart = () => {
      timer.cancel();
      if (!this.#stream.signal.aborted) timer = clock.timer(quietMs, ask);
    };
    return { restart, stop: () => timer.cancel() };
  }

  #limited<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, limitMs, name } = this.#options;
    return withDeadline(clock, limitMs, this.#stream.signal, `querying the agent ${name}`, work);
  }
}

function viewOf({ unhealthy, announcer, alarms }: AgentStatus): HealthView {
  return {
    seen: new Set(unhealthy.seen.flatMap((text) => tryParseAddress(text) ?? [])),
    isActive: announcer.role === 'active',
    canJudge: unhealthy.heard > 0 && !alarms.some(isCutOff),
  };
}
