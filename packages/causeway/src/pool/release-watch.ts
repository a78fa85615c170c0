import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { Refusal } from '../ipam/refusal.ts';
import type { Store } from '@causeway/kubernetes/cache/store';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { ProviderHost } from '../services/provider.ts';
import { announcers } from './announcer.ts';
import type { Announced, PendingRelease, PendingReleases } from './pending-releases.ts';
import type { PoolLedger } from './pool-ledger.ts';
import type { Term, WithdrawalWatch } from './withdrawal.ts';

export interface ReleaseWatchOptions {
  readonly departures: PendingReleases;
  readonly ledger: PoolLedger;
  readonly watch: WithdrawalWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const departing: MetricDefinition<never> = {
  kind: 'gauge',
  name: 'causeway_pool_departing',
  help: 'Services that are gone and whose addresses stay reserved, because they are seen announced or the ledger was not told yet.',
  labels: [],
};

export const releaseMetricDefinitions = [departing];

type Services = Pick<Store<Service>, 'get'>;
interface Host {
  readonly services: Services;
  readonly recordEvent: ProviderHost['recordEvent'];
}

const everyMs = 10_000;
/** While somebody is waited for that may be seen to stop. */
const whileAnnouncedMs = 1_000;
/** Who has not stopped by then may be dead, and somebody has to look. */
const stuckMs = 120_000;

/**
 * Tells the ledger of Services that went: because it could not be told when they did, or because
 * their address may be announced beyond their end. What is seen announced is not freed, however long
 * that takes.
 */
export class ReleaseWatch {
  readonly #options: ReleaseWatchOptions;
  /** What was said of whom the last time, by UID: it is said once. */
  #problems: ReadonlyMap<string, string> = new Map();
  /** Since when it is known of whom that somebody is seen to announce them, by UID. */
  #announced: ReadonlyMap<string, number> = new Map();
  /** Those of whom somebody was told. */
  readonly #recorded = new Set<string>();

  constructor(options: ReleaseWatchOptions) {
    this.#options = options;
  }

  /** Whether an address may be announced that nobody here can stop announcing. */
  get mayBeAnnounced(): boolean {
    return this.#options.departures.mayBeAnnounced;
  }

  /** Reads what is departing, so that it is known before anything is promised. */
  async remember(signal: AbortSignal): Promise<void> {
    await this.#options.departures.list(signal);
  }

  /** Looks until the signal fires, whenever the ledger is heard of. */
  async run(host: Host, isHeard: () => boolean, signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#options;
    const gauge = metrics.gauge(departing);
    let isWatching = false;
    while (!signal.aborted) {
      await sleep(clock, isWatching ? whileAnnouncedMs : everyMs, signal);
      if (!isHeard()) continue;
      try {
        gauge.set({}, await this.catchUp(host, signal));
        isWatching = this.#announced.size > this.#recorded.size;
      } catch (error) {
        if (signal.aborted) throw error;
        const { message } = CausewayError.from(error);
        log.warn({ problem: message }, 'what went can’t be read');
      }
    }
  }

  /** Answers how many are not freed yet. What fails for one is no matter of the others. */
  async catchUp(host: Host, signal: AbortSignal): Promise<number> {
    const { departures, log, clock } = this.#options;
    const problems = new Map<string, string>();
    const announced = new Map<string, number>();
    for (const departure of await departures.list(signal)) {
      try {
        if (await this.#release(departure, host.services, signal)) continue;
        const since = this.#announced.get(departure.uid) ?? clock.monotonic();
        announced.set(departure.uid, since);
        if (clock.monotonic() - since >= stuckMs) this.#recordStuck(departure, host);
      } catch (error) {
        if (signal.aborted) throw error;
        const { uid, announced } = departure;
        const { message: problem } = CausewayError.from(error);
        problems.set(uid, problem);
        if (this.#problems.get(uid) === problem) continue;
        log.warn({ uid, ...announced, problem }, 'what went is not yet told to the ledger');
      }
    }
    this.#problems = problems;
    this.#announced = announced;
    for (const uid of this.#recorded) if (!announced.has(uid)) this.#recorded.delete(uid);
    return problems.size + announced.size;
  }

  /** Somebody may know that its announcer is dead, which nobody here can. */
  #recordStuck({ uid, announced }: PendingRelease, { services, recordEvent }: Host): void {
    if (announced === undefined || this.#recorded.has(uid)) return;
    const { namespace, name, by } = announced;
    if (services.get(`${namespace}/${name}`)?.metadata?.uid === uid) return;
    this.#recorded.add(uid);
    const { title } = announcers[by];
    const message =
      `It is gone, but ${title} is still seen to announce it: its address stays reserved until that ends. ` +
      `If ${title} is dead where it ran, and nobody announces it, free it: causeway ipam free SITE CLUSTER --uid ${uid}`;
    recordEvent({ namespace, name, uid }, 'Warning', 'StillAnnounced', message);
  }

  /** Whether the ledger has heard of it. */
  async #release(
    departure: PendingRelease,
    services: Services,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { departures, ledger, watch } = this.#options;
    const withdrawn = await this.#isWithdrawn(departure, services, signal);
    if (withdrawn === undefined) return false;
    await freeForGood(ledger, { ...departure, withdrawn }, signal);
    await departures.remove(departure, signal);
    watch.forget(departure.uid);
    return true;
  }

  /** Undefined while it must not be freed. */
  async #isWithdrawn(
    departure: PendingRelease,
    services: Services,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { uid, announced, withdrawn } = departure;
    if (announced === undefined) return withdrawn;
    const { watch } = this.#options;
    const { by, namespace, name, wasSeen } = announced;
    const owner = { namespace, name, uid };
    const present = services.get(`${namespace}/${name}`);
    if (present !== undefined) {
      const term = await watch.term(by, owner, signal);
      // It is about to go: who stops for that has not even heard of it.
      if (present.metadata?.uid === uid) return this.#noteTerm(departure, announced, term, signal);
      if (isAnother(term, announced.term)) return isNextOfSame(term, announced.term);
    }
    if (wasSeen) watch.remember(uid);
    const sighting = await watch.check(by, owner, signal);
    return sighting === 'announced' ? undefined : sighting === 'withdrawn';
  }

  /** Until it is gone, whoever takes the lease over announces it too. */
  async #noteTerm(
    departure: PendingRelease,
    announced: Announced,
    term: Term | undefined,
    signal: AbortSignal,
  ): Promise<undefined> {
    if (term === undefined || isSameTerm(term, announced.term)) return;
    const noted = { ...departure, announced: { ...announced, wasSeen: true, term } };
    await this.#options.departures.add(noted, signal);
  }
}

function isSameTerm(one: Term, other: Term | undefined): boolean {
  return one.holder === other?.holder && one.since === other.since && one.number === other.number;
}

/** The lease is held for the Service that has the name now, and no longer for the one that went. */
function isAnother(now: Term | undefined, noted: Term | undefined): now is Term {
  return now !== undefined && noted !== undefined && !isSameTerm(now, noted);
}

/** Who takes its own lease anew has given it up: it has stopped. Another may have taken it from one that died. */
function isNextOfSame(now: Term, noted: Term | undefined): boolean {
  return now.holder === noted?.holder && now.number === noted.number + 1;
}

/** Frees what it held. Where we died between the reservation and the note of it, the ledger knows the fence. */
export async function freeReleased(
  ledger: PoolLedger,
  { uid, fence, withdrawn }: PendingRelease,
  signal: AbortSignal,
): Promise<void> {
  const known = fence ?? (await fenceInLedger(ledger, uid, signal));
  if (known !== undefined) await ledger.delete(uid, known, withdrawn, signal);
}

/** The same for one that is going for good: whatever it holds by now is freed with it. */
export async function freeForGood(
  ledger: PoolLedger,
  departure: PendingRelease,
  signal: AbortSignal,
): Promise<void> {
  try {
    await freeReleased(ledger, departure, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'stale-fence') throw error;
    // It was claimed anew and nobody wrote that down. A UID never comes again: it is still its own.
    const fence = await fenceInLedger(ledger, departure.uid, signal);
    if (fence === undefined || fence === departure.fence) throw error;
    await freeReleased(ledger, { ...departure, fence }, signal);
  }
}

async function fenceInLedger(
  ledger: PoolLedger,
  uid: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  return (await ledger.reservations(signal)).find((each) => each.uid === uid)?.fence;
}
