import { CausewayError } from '@causeway/base/error/causeway-error';
import type { FrontendKey } from '../../protocol/frontend.ts';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { DesiredState } from './desired-state.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';
import type { RemovalVerifier } from './removal-verifier.ts';
import type { RemovalVerdict, WithheldFrontend, WithheldRemovals } from './withheld-removals.ts';

/** The part of a gateway link that the verification of withheld removals uses. */
export interface WithholdingLink {
  readonly removals: WithheldRemovals;
  judge(verdict: RemovalVerdict): void;
}

export interface RemovalLoopOptions {
  readonly links: readonly WithholdingLink[];
  readonly verifier: RemovalVerifier;
  readonly desired: Pick<DesiredState, 'wants'>;
  readonly reasons: ReasonSink;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Verifies the withheld removals of all gateways with one read of the API server. New ones are verified at
 * once, doubtful ones at intervals until the facts are known.
 */
export class RemovalLoop {
  readonly #options: RemovalLoopOptions;
  readonly #runner: BoundedFrequencyRunner;
  /** Frontends that an operator allowed one gateway to remove. The others remove them too. */
  readonly #allowed = new Set<FrontendKey>();

  constructor(options: RemovalLoopOptions) {
    this.#options = options;
    this.#runner = new BoundedFrequencyRunner({
      name: 'verify withheld removals',
      run: (signal) => this.#verify(signal),
      minIntervalMs: 1_000,
      burst: 2,
      maxIntervalMs: 15_000,
      retryMs: 5_000,
      clock: options.clock,
      log: options.log,
    });
  }

  /** Requests a verification if gateways withhold removals without a verdict. */
  requestIfNeeded(): void {
    const { links } = this.#options;
    if (links.every(({ removals }) => removals.frontends.size === 0)) this.#allowed.clear();
    if (links.some(({ removals }) => removals.needsVerdict)) this.#runner.request();
  }

  /** Takes frontends that an operator allowed one gateway to remove. */
  allow(keys: Iterable<FrontendKey>): void {
    for (const key of keys) this.#allowed.add(key);
    this.#runner.request();
  }

  loop(signal: AbortSignal): Promise<void> {
    return this.#runner.loop(signal);
  }

  async #verify(signal: AbortSignal): Promise<void> {
    const { links, desired, reasons, log } = this.#options;
    const withheld = new Map<FrontendKey, WithheldFrontend>();
    for (const { removals } of links) {
      for (const [key, frontend] of removals.frontends) {
        if (!desired.wants(key)) withheld.set(key, frontend);
      }
    }
    if (withheld.size === 0) return;
    const verdict = this.#withAllowed(await this.#ask(withheld, signal));
    const { verified, doubts } = verdict;
    const [doubt] = doubts;
    log.info({ verified: verified.size, doubted: doubts.size, doubt }, 'verified removals');
    for (const link of links) link.judge(verdict);
    reasons.add({ kind: 'removals-verified' });
  }

  /** The verdict of the verifier. If the facts can't be read, each removal is in doubt for this reason. */
  async #ask(
    withheld: ReadonlyMap<FrontendKey, WithheldFrontend>,
    signal: AbortSignal,
  ): Promise<RemovalVerdict> {
    const { links, verifier, reasons } = this.#options;
    try {
      return await verifier.verify([...withheld.values()], signal);
    } catch (error) {
      const { message } = CausewayError.from(error);
      const doubts = new Map([...withheld.keys()].map((key) => [key, message]));
      for (const link of links) link.judge({ cluster: undefined, verified: new Set(), doubts });
      reasons.add({ kind: 'removals-verified' });
      throw error;
    }
  }

  #withAllowed(verdict: RemovalVerdict): RemovalVerdict {
    const doubts = new Map([...verdict.doubts].filter(([key]) => !this.#allowed.has(key)));
    return { ...verdict, doubts, verified: verdict.verified.union(this.#allowed) };
  }
}
