import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { Refusal } from '../ipam/refusal.ts';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { ObjectView, ProviderHost } from '../services/provider.ts';
import { announcers } from './announcer.ts';
import type { Announced, PendingRelease, PendingReleases } from './pending-releases.ts';
import type { PoolLedger } from './pool-ledger.ts';
import type { Term, WithdrawalWatch } from './withdrawal.ts';

export interface ReleaseWatchOptions {
  readonly releases: PendingReleases;
  readonly ledger: PoolLedger;
  readonly watch: WithdrawalWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const pendingReleases: MetricDefinition<never> = {
  kind: 'gauge',
  name: 'causeway_pool_pending_releases',
  help: 'Deleted Services that still have reserved addresses, because the addresses are seen announced or the ledger is not reached.',
  labels: [],
};

export const releaseMetricDefinitions = [pendingReleases];

type Services = Pick<ObjectView<Service>, 'get'>;
interface Host {
  readonly objects: Services;
  readonly recordEvent: ProviderHost['recordEvent'];
}

const everyMs = 10_000;
/** The interval while an announcement may be seen to end. */
const whileAnnouncedMs = 1_000;
/** An announcer that has not stopped after this time may be dead. An operator has to check. */
const stuckMs = 120_000;

/**
 * Frees the reservations of deleted Services, if the ledger was not reachable at the deletion or the address
 * may be announced longer. An address that is seen announced is never freed.
 */
export class ReleaseWatch {
  readonly #options: ReleaseWatchOptions;
  /** The last logged problem of each release, by UID, so that each problem is logged once. */
  #problems: ReadonlyMap<string, string> = new Map();
  /** Since when each release is known to be announced, by UID. */
  #announced: ReadonlyMap<string, number> = new Map();
  /** The releases for which an Event was recorded. */
  readonly #recorded = new Set<string>();

  constructor(options: ReleaseWatchOptions) {
    this.#options = options;
  }

  /** Whether an address may be announced that the controller can't withdraw. */
  get mayBeAnnounced(): boolean {
    return this.#options.releases.mayBeAnnounced;
  }

  /** Loads the pending releases, so that they are known before any promise. */
  async load(signal: AbortSignal): Promise<void> {
    await this.#options.releases.moveLegacy(signal);
    await this.#options.releases.list(signal);
  }

  /** Checks at intervals until the signal fires, while the ledger answers. */
  async run(host: Host, isHeard: () => boolean, signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#options;
    const gauge = metrics.gauge(pendingReleases);
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
        log.warn({ problem: message }, 'the pending releases are not readable');
      }
    }
  }

  /** Returns the number of releases that are left. A failure does not block the others. */
  async catchUp(host: Host, signal: AbortSignal): Promise<number> {
    const { releases, log, clock } = this.#options;
    const problems = new Map<string, string>();
    const announced = new Map<string, number>();
    for (const pending of await releases.list(signal)) {
      try {
        if (await this.#release(pending, host.objects, signal)) continue;
        const since = this.#announced.get(pending.uid) ?? clock.monotonic();
        announced.set(pending.uid, since);
        if (clock.monotonic() - since >= stuckMs) this.#recordStuck(pending, host);
      } catch (error) {
        if (signal.aborted) throw error;
        const { uid, announced } = pending;
        const { message: problem } = CausewayError.from(error);
        problems.set(uid, problem);
        if (this.#problems.get(uid) === problem) continue;
        log.warn({ uid, ...announced, problem }, 'the ledger has not freed a reservation yet');
      }
    }
    this.#problems = problems;
    this.#announced = announced;
    for (const uid of this.#recorded) if (!announced.has(uid)) this.#recorded.delete(uid);
    return problems.size + announced.size;
  }

  /** An operator may know that the announcer is dead. The controller can't know that. */
  #recordStuck({ uid, announced }: PendingRelease, { objects, recordEvent }: Host): void {
    if (announced === undefined || this.#recorded.has(uid)) return;
    const { namespace, name, by } = announced;
    if (objects.get(`${namespace}/${name}`)?.metadata?.uid === uid) return;
    this.#recorded.add(uid);
    const { title } = announcers[by];
    const message =
      `The Service was deleted, but ${title} still announces its address. The address stays reserved until the announcement ends. ` +
      `If ${title} is dead on the announcing node, free the address: causeway ipam free SITE CLUSTER --uid ${uid}`;
    recordEvent({ namespace, name, uid }, 'StillAnnounced', message);
  }

  /** Returns whether the ledger has freed the reservation. */
  async #release(
    pending: PendingRelease,
    services: Services,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { releases, ledger, watch } = this.#options;
    const withdrawn = await this.#isWithdrawn(pending, services, signal);
    if (withdrawn === undefined) return false;
    await freeForGood(ledger, { ...pending, withdrawn }, signal);
    await releases.remove(pending, signal);
    watch.drop(pending.uid);
    return true;
  }

  /** Undefined while the address must not be freed. */
  async #isWithdrawn(
    pending: PendingRelease,
    services: Services,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { uid, announced, withdrawn } = pending;
    if (announced === undefined) return withdrawn;
    const { watch } = this.#options;
    const { by, namespace, name, wasSeen } = announced;
    const owner = { namespace, name, uid };
    const present = services.get(`${namespace}/${name}`);
    if (present !== undefined) {
      const term = await watch.term(by, owner, signal);
      // The Service still exists, so an announcer that stops on its deletion has not stopped yet.
      if (present.metadata?.uid === uid) return this.#noteTerm(pending, announced, term, signal);
      if (isAnother(term, announced.term)) return isNextOfSame(term, announced.term);
    }
    if (wasSeen) watch.markSeen(uid);
    const sighting = await watch.check(by, owner, signal);
    return sighting === 'announced' ? undefined : sighting === 'withdrawn';
  }

  /** While the Service exists, every new holder of the lease announces it too. */
  async #noteTerm(
    pending: PendingRelease,
    announced: Announced,
    term: Term | undefined,
    signal: AbortSignal,
  ): Promise<undefined> {
    if (term === undefined || isSameTerm(term, announced.term)) return;
    const noted = { ...pending, announced: { ...announced, wasSeen: true, term } };
    await this.#options.releases.add(noted, signal);
  }
}

function isSameTerm(one: Term, other: Term | undefined): boolean {
  return one.holder === other?.holder && one.since === other.since && one.number === other.number;
}

/** The lease belongs to the new Service of that name, and no longer to the deleted one. */
function isAnother(now: Term | undefined, noted: Term | undefined): now is Term {
  return now !== undefined && noted !== undefined && !isSameTerm(now, noted);
}

/**
 * A holder that takes its own lease again has released it before, so it has stopped. Another holder may have
 * taken the lease from a dead one.
 */
function isNextOfSame(now: Term, noted: Term | undefined): boolean {
  return now.holder === noted?.holder && now.number === noted.number + 1;
}

/**
 * Frees the reservation. If the controller died between the reservation and its record, the ledger knows the
 * fencing token.
 */
export async function freeReleased(
  ledger: PoolLedger,
  { uid, fencingToken, withdrawn }: PendingRelease,
  signal: AbortSignal,
): Promise<void> {
  const known = fencingToken ?? (await fencingTokenInLedger(ledger, uid, signal));
  if (known !== undefined) await ledger.delete(uid, known, withdrawn, signal);
}

/** The same for a Service that is deleted: its current reservation is freed in any case. */
export async function freeForGood(
  ledger: PoolLedger,
  pending: PendingRelease,
  signal: AbortSignal,
): Promise<void> {
  try {
    await freeReleased(ledger, pending, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'stale-fencing-token') throw error;
    // The Service reserved the address again without a record of it. A UID is
    // never used twice, so the reservation still belongs to the Service.
    const fencingToken = await fencingTokenInLedger(ledger, pending.uid, signal);
    if (fencingToken === undefined || fencingToken === pending.fencingToken) throw error;
    await freeReleased(ledger, { ...pending, fencingToken }, signal);
  }
}

async function fencingTokenInLedger(
  ledger: PoolLedger,
  uid: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  return (await ledger.reservations(signal)).find((each) => each.uid === uid)?.fencingToken;
}
