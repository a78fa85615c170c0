import { CausewayError } from '../../domain/error.ts';
import { Refusal } from '../../ipam/refusal.ts';
import type { Service } from '../../kube/core-objects.ts';
import { keyOf } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import { OwnerIndex } from '../owner-index.ts';
import type {
  Claim,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  LoadBalancerProvider,
  Owner,
  ProviderContext,
  ProviderHost,
} from '../provider.ts';
import { announcerAnnotation, holdingAnnotation } from './annotations.ts';
import { announcers, type Announcer, type AnnouncerName } from './announcer.ts';
import { chooseAnnouncer, poolClass } from './choose-announcer.ts';
import type { AnnouncerDetector } from './detect-announcer.ts';
import { formatHolding, readHolding, type Holding } from './holding.ts';
import type { Grant, PoolLedger } from './pool-ledger.ts';
import type { PoolRelease } from './pool-release.ts';
import { readWish, type Wish } from './wish.ts';

export interface PoolProviderOptions {
  readonly ledger: PoolLedger;
  readonly detector: AnnouncerDetector;
  readonly release: PoolRelease;
  readonly announcer: AnnouncerName | undefined;
  /** Load balancer classes to serve beside our own. */
  readonly classes: readonly string[];
}

const waitMs = 5_000;

/** Services with addresses of a pool that many clusters share; somebody else announces them. */
export class PoolProvider implements LoadBalancerProvider {
  readonly name = 'pool';
  readonly #options: PoolProviderOptions;
  readonly #owners = new OwnerIndex();
  /** What the ledger has granted for which demand, by UID: it isn't asked twice for the same. */
  readonly #granted = new Map<string, { readonly demand: string; readonly grant: Grant }>();
  readonly #synced = Promise.withResolvers<void>();
  #services: Store<Service> | undefined;

  constructor(options: PoolProviderOptions) {
    this.#options = options;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  readiness(): string | undefined {
    return undefined;
  }

  claims(service: Service): Claim {
    if (service.spec?.type !== 'LoadBalancer') return 'no';
    const { loadBalancerClass } = service.spec;
    const namesAnnouncer = service.metadata?.annotations?.[announcerAnnotation] !== undefined;
    if (loadBalancerClass === undefined) return namesAnnouncer ? 'yes' : 'if-default';
    const isOurs = loadBalancerClass === poolClass || namesAnnouncer;
    return isOurs || this.#options.classes.includes(loadBalancerClass) ? 'yes' : 'no';
  }

  statusWriter(service: Service): 'controller' | 'announcer' {
    const holding = readHolding(service);
    return holding === undefined ? 'controller' : announcers[holding.announcer].statusWriter;
  }

  loadBalancerName(service: Service): string {
    return keyOf(service);
  }

  get(owner: Owner): readonly Ingress[] | undefined {
    const holding = this.#holdingOf(owner);
    return holding === undefined ? undefined : ingressOf(holding);
  }

  owners(): Iterable<Owner> {
    return this.#owners.all();
  }

  ownersNamed(key: string): readonly Owner[] {
    return this.#owners.named(key);
  }

  async ensure(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    const owner = this.#owners.add(service);
    const holding = readHolding(service);
    const reading = readWish(service, holding);
    if (reading.kind === 'refused') return reading;
    const grant = await this.#grant(owner, reading.wish, context.signal);
    if (grant === undefined) {
      const message = 'No address is left in the pool; it waits for the next one';
      return { kind: 'pending', message, retryAfterMs: waitMs };
    }
    if ('kind' in grant) return grant;
    const choice = chooseAnnouncer(
      service,
      {
        named: reading.wish.announcer,
        configured: this.#options.announcer,
        present: holding?.announcer,
        ofPool: grant.announcer,
        found: await this.#found(reading.wish, holding, context.signal),
      },
      this.#options.classes,
    );
    if (choice.kind === 'refused') return choice;
    return this.#announce(service, reading.wish, grant, choice.announcer, context);
  }

  update(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    return this.ensure(service, context);
  }

  async ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    const key = `${owner.namespace}/${owner.name}`;
    const present = this.#services?.get(key);
    const service = present?.metadata?.uid === owner.uid ? present : undefined;
    const granted = this.#granted.get(owner.uid)?.grant;
    const outcome = await this.#options.release.release(owner, service, granted?.fence, context);
    if (outcome.kind === 'gone') {
      this.#granted.delete(owner.uid);
      this.#owners.remove(owner);
    }
    return outcome;
  }

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    this.#services = host.services;
    await host.services.synced;
    for (const service of host.services.values()) {
      if (readHolding(service) !== undefined) this.#owners.add(service);
    }
    this.#synced.resolve();
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #holdingOf(owner: Owner): Holding | undefined {
    const service = this.#services?.get(`${owner.namespace}/${owner.name}`);
    if (service?.metadata?.uid !== owner.uid) return undefined;
    return readHolding(service);
  }

  /** What the ledger grants, or why it doesn't; undefined while the request waits in the queue. */
  async #grant(
    owner: Owner,
    { demand }: Wish,
    signal: AbortSignal,
  ): Promise<Grant | Extract<EnsureOutcome, { kind: 'refused' }> | undefined> {
    const asked = JSON.stringify(demand);
    const known = this.#granted.get(owner.uid);
    if (known?.demand === asked) return known.grant;
    try {
      const grant = await this.#options.ledger.ensure(owner.uid, demand, signal);
      if (grant === undefined) return undefined;
      // Asking again by the name of what it got is the same demand.
      const addresses = grant.addresses.map(({ address }) => address);
      this.#granted.set(owner.uid, { demand: JSON.stringify({ ...demand, addresses }), grant });
      return grant;
    } catch (error) {
      const refusal = refusalOf(CausewayError.from(error));
      if (refusal !== undefined) return refusal;
      throw error;
    }
  }

  async #found(
    { announcer }: Wish,
    holding: Holding | undefined,
    signal: AbortSignal,
  ): Promise<readonly AnnouncerName[]> {
    const decided = announcer ?? this.#options.announcer ?? holding?.announcer;
    return decided === undefined ? this.#options.detector.find(signal) : [];
  }

  async #announce(
    service: Service,
    { demand }: Wish,
    grant: Grant,
    announcer: Announcer,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const addresses = grant.addresses.map(({ address }) => address);
    const loadBalancerIP = service.spec?.loadBalancerIP;
    const announcement = { addresses, sharingKey: demand.sharingKey, loadBalancerIP };
    const problem = announcer.refuse?.(announcement);
    if (problem !== undefined) return { kind: 'refused', reason: 'NotAnnounced', message: problem };
    const { uid = '' } = service.metadata ?? {};
    const holding = { uid, ...grant, announcer: announcer.name };
    // One write: the announcer is never told of an address that isn't recorded.
    await context.annotate({
      ...forgotten(service, announcer.name),
      ...announcer.tell(announcement),
      [holdingAnnotation]: formatHolding(holding),
    });
    if (announcer.statusWriter === 'controller') {
      return { kind: 'ready', ingress: ingressOf(holding) };
    }
    const shown = new Set(service.status?.loadBalancer?.ingress?.map(({ ip }) => ip));
    if (addresses.every((address) => shown.has(address))) {
      return { kind: 'ready', ingress: ingressOf(holding) };
    }
    const message = `${announcer.title} has been told to announce ${addresses.join(', ')} and has not yet`;
    return { kind: 'pending', message };
  }
}

/** What the Service's former announcer was told, to be taken back. */
function forgotten(service: Service, now: AnnouncerName): Record<string, null> {
  const before = readHolding(service)?.announcer;
  if (before === undefined || before === now) return {};
  return Object.fromEntries(announcers[before].annotations.map((name) => [name, null]));
}

/** Behind a translated address nobody receives packets for it, so it is no VIP to the nodes. */
function ingressOf({ addresses }: Pick<Holding, 'addresses'>): Ingress[] {
  return addresses.map(({ address, publicAddress }) =>
    publicAddress === undefined
      ? { ip: address, ipMode: 'VIP' }
      : { ip: publicAddress, ipMode: 'Proxy' },
  );
}

const refusals: Partial<Record<Refusal['reason'], string>> = {
  'address-in-use': 'AddressTaken',
  'address-outside': 'AddressOutside',
  'address-resting': 'AddressResting',
  'other-address': 'AddressDiffers',
  'pool-exhausted': 'PoolExhausted',
  quota: 'QuotaExceeded',
};

/** Refusals that waiting alone doesn't mend are the user's; the others are tried again. */
function refusalOf(error: CausewayError): Extract<EnsureOutcome, { kind: 'refused' }> | undefined {
  const message = error.hint === undefined ? error.message : `${error.message}. ${error.hint}`;
  if (error instanceof Refusal && (error.reason === 'address-outside' || error.reason === 'other-address')) {
    return { kind: 'refused', reason: refusals[error.reason] ?? 'Refused', message };
  }
  if (error.code === 'invalid') return { kind: 'refused', reason: 'InvalidRequest', message };
  return undefined;
}
