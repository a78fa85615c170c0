import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { StringMap } from '@causeway/kubernetes/objects/object';
import type { Clock } from '@causeway/base/time/clock';
import type { EnsureOutcome, ProviderContext } from '../services/provider.ts';
import type { Announcer } from './announcer.ts';
import type { Reservations } from './reservations.ts';
import { inFamilies, ingressOf, readHolding, type HeldAddress } from './holding.ts';
import type { Grant } from './pool-ledger.ts';
import { Reminders } from './reminders.ts';
import { announced } from './service-change.ts';
import type { PoolServiceSpec } from './service-spec.ts';

const leavingCheckMs = 1_000;
/** How soon the Service is reconciled again after a repeated announcement. */
const soonMs = 2_000;

/** Passes granted addresses on to announcers, and waits until the announcers show them. */
export class AnnouncementWriter {
  readonly #grants: Reservations;
  readonly #reminders: Reminders;

  constructor(grants: Reservations, clock: Clock) {
    this.#grants = grants;
    this.#reminders = new Reminders(clock);
  }

  async announce(
    service: Service,
    spec: PoolServiceSpec,
    grant: Grant,
    announcer: Announcer,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const { demand } = spec;
    const wanted = inFamilies(grant.addresses, demand.families);
    const addresses = wanted.map(({ address }) => address);
    const loadBalancerIP = service.spec?.loadBalancerIP;
    const announcement = { addresses, sharingKey: demand.sharingKey, loadBalancerIP };
    const problem = announcer.refuse?.(announcement);
    if (problem !== undefined) return { kind: 'refused', reason: 'NotAnnounced', message: problem };
    const { uid = '' } = service.metadata ?? {};
    const annotations = announcer.annotationsFor(announcement);
    const reminders = hasAnnotations(service, annotations)
      ? readHolding(service)?.reminders
      : undefined;
    const write = async (times: number | undefined) => {
      const { addresses: held, fencingToken } = grant;
      const holding = { uid, addresses: held, fencingToken, reminders: times };
      const change = announced(service, announcer, holding, announcement);
      // The status shows the address only after the record has it.
      const ingress =
        announcer.statusWriter === 'controller' ? ingressOf({ addresses: wanted }) : undefined;
      await context.annotate(change.annotations, { spec: change.spec, ingress });
    };
    await write(reminders);
    const shown = new Set(service.status?.loadBalancer?.ingress?.map(({ ip = '' }) => ip));
    const ingress = ingressOf({ addresses: wanted });
    const leaving = grant.addresses.filter((each) => !wanted.includes(each));
    const isLeft = !leaving.some((each) => isAmong(shown, each));
    if (isLeft && leaving.length > 0) {
      const left = await this.#grants.keepOnly(uid, demand, grant, context);
      const isLess = left.addresses.length < grant.addresses.length;
      if (isLess) return this.announce(service, spec, left, announcer, context);
    }
    const isShown =
      announcer.statusWriter === 'controller' || addresses.every((address) => shown.has(address));
    if (isLeft && isShown) {
      this.#reminders.drop(uid);
      return { kind: 'ready', ingress };
    }
    // An announcer that never showed an address has missed no change: it is not running, or is slow.
    const mayHaveMissed = announcer.missesChanges === true && shown.size > 0;
    const again = mayHaveMissed
      ? await this.#remind(uid, annotations, reminders ?? 0, write)
      : undefined;
    if (!isLeft) {
      const what = leaving.map(({ address }) => address).join(', ');
      const message = `${what} returns to the pool when the status no longer shows the address`;
      const retryAfterMs = Math.min(again ?? leavingCheckMs, leavingCheckMs);
      return { kind: 'pending', message, ingress, retryAfterMs };
    }
    const message = `${announcer.title} does not show ${addresses.join(', ')} in the status yet`;
    return { kind: 'pending', message, ...(again === undefined ? {} : { retryAfterMs: again }) };
  }

  /**
   * Repeats the announcement when it is due, by a change without new content. Returns the time until the next
   * check.
   */
  async #remind(
    uid: string,
    annotations: StringMap,
    times: number,
    write: (times: number) => Promise<void>,
  ): Promise<number | undefined> {
    const waitMs = this.#reminders.waitMs(uid, JSON.stringify([annotations, times]), times);
    if (waitMs !== 0) return waitMs;
    await write(times + 1);
    return soonMs;
  }

  drop(uid: string): void {
    this.#reminders.drop(uid);
  }
}

/** Whether the Service has these annotations already. */
function hasAnnotations({ metadata }: Service, annotations: StringMap): boolean {
  return Object.entries(annotations).every(
    ([name, text]) => metadata?.annotations?.[name] === text,
  );
}

function isAmong(shown: ReadonlySet<string>, { address, publicAddress }: HeldAddress): boolean {
  return shown.has(address) || (publicAddress !== undefined && shown.has(publicAddress));
}
