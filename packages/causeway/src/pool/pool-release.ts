import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Clock } from '@causeway/base/time/clock';
import type { DeleteOutcome, Owner, ProviderContext } from '../services/provider.ts';
import { announcers, type AnnouncerName } from './announcer.ts';
import { isAnswer } from './rejection.ts';
import { freeReleased, freeForGood } from './release-watch.ts';
import type { PendingRelease, PendingReleases } from './pending-releases.ts';
import { readHolding, type Holding } from './holding.ts';
import type { PoolLedger } from './pool-ledger.ts';
import { handedOver, withdrawn } from './service-change.ts';
import type { Sighting, WithdrawalWatch } from './withdrawal.ts';

export interface PoolReleaseOptions {
  readonly ledger: PoolLedger;
  readonly watch: WithdrawalWatch;
  readonly departures: PendingReleases;
  readonly clock: Clock;
  /** How long the end of an announcement is looked for. */
  readonly withdrawalMs: number;
}

const recheckMs = 1_000;
const stuckMs = 30_000;

/** What is known of a Service that can't be asked any more. */
export interface Remembered {
  readonly fence?: number | undefined;
  /** Who was told to announce it, if somebody was. */
  readonly announcer?: AnnouncerName | undefined;
}

/** What is to be done next for a Service that gives its addresses up. */
export type ReleaseStep =
  | { readonly kind: 'stop' }
  /** The status is ours, and still shows it. */
  | { readonly kind: 'leave-status' }
  | {
      readonly kind: 'look-again';
      readonly message: string;
      /** Nothing is expected to happen soon. */
      readonly isStuck: boolean;
    }
  /** The Service may go, and its address is looked after beyond its end. */
  | { readonly kind: 'let-go'; readonly announcer: AnnouncerName }
  | { readonly kind: 'free'; readonly withdrawn: boolean };

/**
 * The order never turns round: the announcer is told to stop, or the address leaves the status where
 * that is all there is; somebody sees that it has; then the address is freed. Where it can't be seen,
 * the address rests longer, and while it is seen or shown, nothing is freed at all.
 */
export function nextStep(
  service: Service | undefined,
  holding: Holding | undefined,
  sighting: Sighting,
  now: number,
  withdrawalMs: number,
): ReleaseStep {
  if (holding === undefined) return { kind: 'free', withdrawn: false };
  const { name, title, statusWriter, stopsWhen } = announcers[holding.announcer];
  const shown = new Set(service?.status?.loadBalancer?.ingress?.map(({ ip }) => ip));
  if (service !== undefined && statusWriter === 'controller') {
    const isShown = holding.addresses.some(({ address, publicAddress }) =>
      shown.has(publicAddress ?? address),
    );
    if (isShown) return { kind: 'leave-status' };
  }
  if (service === undefined || statusWriter === 'controller') {
    return { kind: 'free', withdrawn: sighting === 'withdrawn' };
  }
  const isDeleted = service.metadata?.deletionTimestamp !== undefined;
  const letGo = { kind: 'let-go', announcer: name } as const;
  if (stopsWhen === 'deleted' && isDeleted) return letGo;
  if (holding.stoppedAt === undefined || isStillBalanced(service)) return { kind: 'stop' };
  const still = holding.addresses.find(({ address }) => shown.has(address));
  if (service.spec?.type === 'LoadBalancer' && still !== undefined) {
    const message = `${title} still announces ${still.address}: delete the Service or change its type`;
    return { kind: 'look-again', message, isStuck: true };
  }
  if (stopsWhen === 'deleted' && sighting !== 'withdrawn') {
    const message = `${title} goes on announcing it until the Service is deleted: its address stays reserved`;
    return { kind: 'look-again', message, isStuck: true };
  }
  if (sighting === 'announced') {
    const isLate = now - holding.stoppedAt >= withdrawalMs;
    if (isLate && isDeleted) return letGo;
    const message = `waiting until ${title} no longer announces it`;
    return { kind: 'look-again', message, isStuck: isLate };
  }
  return { kind: 'free', withdrawn: sighting === 'withdrawn' };
}

/** To be deleted, and a load balancer to announcers all the same: somebody has made it one again. */
function isStillBalanced({ metadata, spec }: Service): boolean {
  return metadata?.deletionTimestamp !== undefined && spec?.type === 'LoadBalancer';
}

/** Gives up what a Service holds. Every call finishes what an earlier one began. */
export class PoolRelease {
  readonly #options: PoolReleaseOptions;

  constructor(options: PoolReleaseOptions) {
    this.#options = options;
  }

  /** `service` is undefined when it is no more; `last` is what is remembered of it. */
  async release(
    owner: Owner,
    service: Service | undefined,
    last: Remembered,
    context: ProviderContext,
  ): Promise<DeleteOutcome> {
    const { watch, clock, withdrawalMs } = this.#options;
    const { fence } = last;
    const holding = service === undefined ? undefined : readHolding(service);
    if (service === undefined && last.announcer !== undefined) {
      // It vanished without a word to us: whoever announces it may not even have noticed.
      if (announcers[last.announcer].statusWriter === 'announcer') {
        await this.#noteDeparture(owner, fence, last.announcer, context.signal);
        return { kind: 'gone' };
      }
    }
    const sighting =
      holding === undefined
        ? 'unknown'
        : await watch.check(holding.announcer, owner, context.signal);
    const step = nextStep(service, holding, sighting, clock.wallTime(), withdrawalMs);
    switch (step.kind) {
      case 'stop':
        if (service !== undefined && holding !== undefined) {
          const isDeleted = service.metadata?.deletionTimestamp !== undefined;
          const now = clock.wallTime();
          const { annotations, spec } = isDeleted
            ? withdrawn(service, holding, now)
            : handedOver(service, holding, now);
          await context.annotate(annotations, { spec });
        }
        return { kind: 'pending', message: 'no longer to be announced', retryAfterMs: recheckMs };
      case 'leave-status':
        return {
          kind: 'pending',
          message: 'its address leaves the status, then it is freed',
          retryAfterMs: recheckMs,
          leavesStatus: true,
        };
      case 'look-again': {
        const retryAfterMs = step.isStuck ? stuckMs : recheckMs;
        return { kind: 'pending', message: step.message, retryAfterMs };
      }
      case 'let-go':
        // Noted before the Service goes, so that it is looked after by whoever comes next.
        await this.#noteDeparture(owner, fenceOf(holding) ?? fence, step.announcer, context.signal);
        return { kind: 'gone' };
      case 'free':
        return this.#depart(
          { uid: owner.uid, fence: fenceOf(holding) ?? fence, withdrawn: step.withdrawn },
          service?.metadata?.deletionTimestamp !== undefined,
          context,
        );
    }
  }

  /** Its address is looked after from then on: freed when it is no longer seen. */
  async #noteDeparture(
    owner: Owner,
    fence: number | undefined,
    by: AnnouncerName,
    signal: AbortSignal,
  ): Promise<void> {
    const { watch, departures } = this.#options;
    const { uid, namespace, name } = owner;
    const wasSeen = (await watch.check(by, owner, signal)) === 'announced';
    const term = await watch.term(by, owner, signal);
    const announced = { by, namespace, name, wasSeen, term };
    await departures.add({ uid, fence, withdrawn: false, announced }, signal);
  }

  /** A Service doesn't wait for the ledger: that it went is kept until the ledger has heard of it. */
  async #depart(
    departure: PendingRelease,
    isDeleted: boolean,
    { signal, log }: ProviderContext,
  ): Promise<DeleteOutcome> {
    try {
      const free = isDeleted ? freeForGood : freeReleased;
      await free(this.#options.ledger, departure, signal);
      this.#options.watch.forget(departure.uid);
    } catch (error) {
      const known = CausewayError.from(error);
      // One that stays may come back to us: what it holds must not be freed behind its back then.
      if (isAnswer(known) || !isDeleted) throw known;
      await this.#options.departures.add(departure, signal);
      log.warn({ problem: known.message }, 'the ledger is told later that it holds nothing');
    }
    return { kind: 'gone' };
  }
}

function fenceOf(holding: Holding | undefined): number | undefined {
  return holding === undefined || holding.addresses.length === 0 ? undefined : holding.fence;
}
