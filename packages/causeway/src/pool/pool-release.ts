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
  readonly releases: PendingReleases;
  readonly clock: Clock;
  /** How long the controller checks for the end of an announcement. */
  readonly withdrawalMs: number;
}

const recheckMs = 1_000;
const stuckMs = 30_000;

/** The known facts about a Service that no longer exists. */
export interface LastKnown {
  readonly fencingToken?: number | undefined;
  /** The announcer of the Service, if there was one. */
  readonly announcer?: AnnouncerName | undefined;
}

/** The next step of a release. */
export type ReleaseStep =
  | { readonly kind: 'stop' }
  /** The controller wrote the status, and the status still shows the address. */
  | { readonly kind: 'leave-status' }
  | {
      readonly kind: 'recheck';
      readonly message: string;
      /** No change is expected soon. */
      readonly isStuck: boolean;
    }
  /** The Service may be deleted. The release watch handles its address afterwards. */
  | { readonly kind: 'let-go'; readonly announcer: AnnouncerName }
  | { readonly kind: 'free'; readonly withdrawn: boolean };

/**
 * The order is fixed. First the announcement stops; with a plain status, the address leaves the status. Then
 * the end of the announcement is seen. Then the address is freed. Where the end can't be seen, the quarantine
 * is longer. While the address is announced or shown, it is not freed.
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
    return { kind: 'recheck', message, isStuck: true };
  }
  if (stopsWhen === 'deleted' && sighting !== 'withdrawn') {
    const message = `${title} announces the address until the Service is deleted: the address stays reserved`;
    return { kind: 'recheck', message, isStuck: true };
  }
  if (sighting === 'announced') {
    const isLate = now - holding.stoppedAt >= withdrawalMs;
    if (isLate && isDeleted) return letGo;
    const message = `waiting until ${title} no longer announces the address`;
    return { kind: 'recheck', message, isStuck: isLate };
  }
  return { kind: 'free', withdrawn: sighting === 'withdrawn' };
}

/** The Service is being deleted, but has the type LoadBalancer again: another client changed it. */
function isStillBalanced({ metadata, spec }: Service): boolean {
  return metadata?.deletionTimestamp !== undefined && spec?.type === 'LoadBalancer';
}

/** Releases the reservation of a Service. Every call continues an earlier one. */
export class PoolRelease {
  readonly #options: PoolReleaseOptions;

  constructor(options: PoolReleaseOptions) {
    this.#options = options;
  }

  /** `service` is undefined if it does not exist any more; `last` has the stored facts about it. */
  async release(
    owner: Owner,
    service: Service | undefined,
    last: LastKnown,
    context: ProviderContext,
  ): Promise<DeleteOutcome> {
    const { watch, clock, withdrawalMs } = this.#options;
    const holding = service === undefined ? undefined : readHolding(service);
    const fencingToken = fencingTokenOf(holding) ?? last.fencingToken;
    if (service === undefined && last.announcer !== undefined) {
      // The Service was deleted without a finalizer, so its announcer may not have noticed yet.
      if (announcers[last.announcer].statusWriter === 'announcer') {
        await this.#notePending(owner, fencingToken, last.announcer, context.signal);
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
        return {
          kind: 'pending',
          message: 'the announcement is being stopped',
          retryAfterMs: recheckMs,
        };
      case 'leave-status':
        return {
          kind: 'pending',
          message: 'the address is removed from the status, then freed',
          retryAfterMs: recheckMs,
          leavesStatus: true,
        };
      case 'recheck': {
        const retryAfterMs = step.isStuck ? stuckMs : recheckMs;
        return { kind: 'pending', message: step.message, retryAfterMs };
      }
      case 'let-go':
        // Stored before the Service is deleted, so that the next controller continues the release.
        await this.#notePending(owner, fencingToken, step.announcer, context.signal);
        return { kind: 'gone' };
      case 'free':
        return this.#releaseNow(
          { uid: owner.uid, fencingToken, withdrawn: step.withdrawn },
          service?.metadata?.deletionTimestamp !== undefined,
          context,
        );
    }
  }

  /** Adds a pending release. The address is freed when it is no longer seen announced. */
  async #notePending(
    owner: Owner,
    fencingToken: number | undefined,
    by: AnnouncerName,
    signal: AbortSignal,
  ): Promise<void> {
    const { watch, releases } = this.#options;
    const { uid, namespace, name } = owner;
    const wasSeen = (await watch.check(by, owner, signal)) === 'announced';
    const term = await watch.term(by, owner, signal);
    const announced = { by, namespace, name, wasSeen, term };
    await releases.add({ uid, fencingToken, withdrawn: false, announced }, signal);
  }

  /**
   * A Service does not wait for the ledger: the pending release is kept until the ledger has freed the
   * address.
   */
  async #releaseNow(
    pending: PendingRelease,
    isDeleted: boolean,
    { signal, log }: ProviderContext,
  ): Promise<DeleteOutcome> {
    try {
      const free = isDeleted ? freeForGood : freeReleased;
      await free(this.#options.ledger, pending, signal);
      this.#options.watch.drop(pending.uid);
    } catch (error) {
      const known = CausewayError.from(error);
      // A Service that stays may return to this provider. Its reservation must not be freed later then.
      if (isAnswer(known) || !isDeleted) throw known;
      await this.#options.releases.add(pending, signal);
      log.warn({ problem: known.message }, 'the ledger is not reached; the address is freed later');
    }
    return { kind: 'gone' };
  }
}

function fencingTokenOf(holding: Holding | undefined): number | undefined {
  return holding === undefined || holding.addresses.length === 0 ? undefined : holding.fencingToken;
}
