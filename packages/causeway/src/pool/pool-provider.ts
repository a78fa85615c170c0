import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import { ownerOf } from '../services/frontend-from-service.ts';
import { OwnerIndex } from '../services/owner-index.ts';
import type {
  Match,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  ObjectView,
  Owner,
  ProviderContext,
  ProviderHost,
} from '../services/provider.ts';
import type { ServiceProvider } from '../services/service-provider.ts';
import { announcerAnnotation, holdingAnnotation } from './annotations.ts';
import { announcers, type Announcer, type AnnouncerName } from './announcer.ts';
import { chooseAnnouncer } from './choose-announcer.ts';
import { matchOf } from './match.ts';
import type { Contact } from './contact.ts';
import type { ReleaseWatch } from './release-watch.ts';
import type { DriftWatch } from './drift-watch.ts';
import type { AnnouncerDetector } from './detect-announcer.ts';
import type { NodeView } from './node-view.ts';
import { putOnNode } from './node-ingress.ts';
import { Reservations } from './reservations.ts';
import {
  formatHolding,
  ingressOf,
  readHolding,
  statusWriterOf,
  stopped,
  type Holding,
} from './holding.ts';
import type { Grant, PoolLedger } from './pool-ledger.ts';
import type { PoolRelease } from './pool-release.ts';
import { withdrawn, type ServiceChange } from './service-change.ts';
import { AnnouncementWriter } from './announcement-writer.ts';
import { canBeWithdrawn, refuseWithoutWithdrawal } from './withdrawable.ts';
import {
  readPoolServiceSpec,
  readPoolServiceSpecAnew,
  type PoolServiceSpec,
} from './service-spec.ts';

export interface PoolProviderOptions {
  readonly ledger: PoolLedger;
  readonly detector: AnnouncerDetector;
  readonly release: PoolRelease;
  readonly releaseWatch: ReleaseWatch;
  readonly nodes: NodeView;
  readonly contact: Contact;
  readonly drift: DriftWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly announcer: AnnouncerName | undefined;
  /** The node for the announcer `node`; otherwise a control plane node. */
  readonly node: string | undefined;
  /** Whether the controller may promise the ledger to stop announcing without contact. */
  readonly selfWithdrawal: boolean;
  /** Load balancer classes to serve beside Causeway's own. */
  readonly classes: readonly string[];
}

const waitMs = 5_000;
const announcerCheckMs = 30_000;

/**
 * Serves Services with addresses of a pool that many clusters share. Another program announces the addresses.
 */
export class PoolProvider implements ServiceProvider {
  readonly name = 'pool';
  readonly #options: PoolProviderOptions;
  readonly #owners = new OwnerIndex();
  readonly #grants: Reservations;
  readonly #announcements: AnnouncementWriter;
  /** The announcers of the Services, by UID. They are needed after a Service is deleted. */
  readonly #announcers = new Map<string, AnnouncerName>();
  readonly #synced = Promise.withResolvers<void>();
  /** The Services on a node's own address, by UID. */
  readonly #onNode = new Set<string>();
  #services: ObjectView<Service> | undefined;

  constructor(options: PoolProviderOptions) {
    this.#options = options;
    this.#grants = new Reservations(options.ledger);
    this.#announcements = new AnnouncementWriter(this.#grants, options.clock);
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /**
   * Without the ledger, the controller serves no new Services but keeps the existing ones. So it stays ready.
   */
  readiness(): string | undefined {
    return this.#options.nodes.readiness();
  }

  match(service: Service): Match {
    return matchOf(service, this.#options.classes);
  }

  statusWriter(service: Service): 'controller' | 'announcer' {
    return statusWriterOf(service);
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
    const owner = this.#owners.add(ownerOf(service));
    const holding = readHolding(service);
    if (holding !== undefined) this.#announcers.set(owner.uid, holding.announcer);
    const reading = readPoolServiceSpec(service, holding);
    if (reading.kind === 'refused') return reading;
    const explicit = reading.spec.announcer ?? this.#options.announcer;
    if (explicit === 'node') return this.#putOnNode(service, reading.spec);
    if (this.#options.contact.isWithdrawn) return this.#keepBack(service, holding, context);
    const grant = await this.#grants.ask(owner, reading.spec.demand, holding, context);
    if ('kind' in grant) {
      if (grant.kind === 'lost' && holding !== undefined) {
        return this.#lose(owner, service, holding, context);
      }
      return grant.kind === 'refused' || grant.kind === 'pending' ? grant : waiting;
    }
    const choice = chooseAnnouncer(
      service,
      {
        named: reading.spec.announcer,
        configured: this.#options.announcer,
        present: holding?.announcer,
        ofPool: grant.announcer,
        found: await this.#found(reading.spec, holding, context.signal),
      },
      this.#options.classes,
    );
    if (choice.kind === 'refused') {
      if (choice.reason !== 'NoAnnouncer') return choice;
      // An announcer may be installed at any time, without notification.
      context.recordEvent(choice.reason, choice.message);
      return { kind: 'pending', message: choice.message, retryAfterMs: announcerCheckMs };
    }
    const refusal = this.#options.selfWithdrawal
      ? refuseWithoutWithdrawal(choice.announcer)
      : undefined;
    if (refusal !== undefined) return refusal;
    return this.#announce(service, reading.spec, grant, choice.announcer, context);
  }

  update(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    return this.ensure(service, context);
  }

  async ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    const key = `${owner.namespace}/${owner.name}`;
    const present = this.#services?.get(key);
    const service = present?.metadata?.uid === owner.uid ? present : undefined;
    if (service !== undefined && this.#isOnNode(service)) {
      this.#drop(owner);
      return { kind: 'gone' };
    }
    const fencingToken = this.#grants.fencingTokenOf(owner.uid);
    const last = { fencingToken, announcer: this.#announcers.get(owner.uid) };
    const outcome = await this.#options.release.release(owner, service, last, context);
    if (outcome.kind === 'gone') this.#drop(owner);
    return outcome;
  }

  #drop(owner: Owner): void {
    this.#grants.drop(owner.uid);
    this.#announcements.drop(owner.uid);
    this.#announcers.delete(owner.uid);
    this.#onNode.delete(owner.uid);
    this.#owners.remove(owner);
  }

  /** Nothing is reserved for the Service, so the ledger need not be asked. */
  #isOnNode(service: Service): boolean {
    const named = service.metadata?.annotations?.[announcerAnnotation];
    return (named ?? this.#options.announcer) === 'node' && readHolding(service) === undefined;
  }

  async run(host: ProviderHost<Service>, signal: AbortSignal): Promise<void> {
    this.#services = host.objects;
    const { nodes, contact, drift, releaseWatch } = this.#options;
    const stop = nodes.onChange(() => {
      for (const uid of this.#onNode) this.#enqueue(host, uid);
    });
    try {
      await supervise(signal, {
        nodes: (inner) => nodes.run(inner),
        contact: async (inner) => {
          await whenSynced([host.objects, nodes], inner);
          for (const service of host.objects.values()) {
            if (readHolding(service) !== undefined) this.#owners.add(ownerOf(service));
          }
          await contact.load(inner);
          await releaseWatch.load(inner);
          this.#synced.resolve();
          const mayPromise = () =>
            !releaseWatch.mayBeAnnounced && [...host.objects.values()].every(canBeWithdrawn);
          await contact.run(() => this.#askAgain(host), mayPromise, inner);
        },
        releases: async (inner) => {
          await this.synced;
          await releaseWatch.run(host, () => contact.isHeard, inner);
        },
        drift: async (inner) => {
          await this.synced;
          await drift.run(host.objects, (uid) => this.#askFor(host, uid), inner);
        },
      });
    } finally {
      stop();
    }
  }

  /** Earlier answers of the ledger may be outdated. */
  #askAgain(host: ProviderHost<Service>): void {
    this.#grants.dropAll();
    for (const { uid } of this.#owners.all()) this.#enqueue(host, uid);
  }

  #askFor(host: ProviderHost<Service>, uid: string): void {
    this.#grants.drop(uid);
    this.#enqueue(host, uid);
  }

  #enqueue(host: ProviderHost<Service>, uid: string): void {
    const owner = this.#owners.get(uid);
    if (owner !== undefined) host.enqueue(`${owner.namespace}/${owner.name}`);
  }

  #holdingOf(owner: Owner): Holding | undefined {
    const service = this.#services?.get(`${owner.namespace}/${owner.name}`);
    if (service?.metadata?.uid !== owner.uid) return undefined;
    return readHolding(service);
  }

  /** Stops the announcement while the ledger does not answer. The Service keeps its address. */
  async #keepBack(
    service: Service,
    holding: Holding | undefined,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const message = 'Not announced: the ledger did not answer for the promised time';
    // An announcer that can't be stopped would continue, and would misinterpret the later deletion of the
    // Service.
    if (holding !== undefined && canBeWithdrawn(service)) {
      await this.#withdraw(service, holding, context, message);
    }
    return { kind: 'pending', message, ingress: [] };
  }

  /**
   * The Service no longer holds the address. The announcement stops at once, and the controller requests
   * another address.
   */
  async #lose(
    owner: Owner,
    service: Service,
    holding: Holding,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const had = holding.addresses.map(({ address }) => address).join(', ');
    const { stopsWhen } = announcers[holding.announcer];
    if (stopsWhen === 'deleted') return this.#replace(owner, service, holding, had, context);
    const message = `The ledger no longer has ${had} for the Service; the controller requests another address`;
    await this.#withdraw(service, { ...holding, addresses: [], fencingToken: 0 }, context, message);
    return { kind: 'pending', message, retryAfterMs: 1, ingress: [] };
  }

  /**
   * The announcer continues until it gets another address or a Service of type LoadBalancer is deleted. So
   * nothing changes before there is another address.
   */
  async #replace(
    owner: Owner,
    service: Service,
    { announcer: name }: Holding,
    had: string,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const announcer = announcers[name];
    const message =
      `The ledger no longer has ${had} for the Service, and ${announcer.title} announces the address until the Service has another address or is deleted. ` +
      'The controller requests another address.';
    context.recordEvent('TakenBack', message);
    const reading = readPoolServiceSpecAnew(service, name);
    if (reading.kind === 'refused') return reading;
    const grant = await this.#grants.ask(owner, reading.spec.demand, undefined, context);
    if (!('kind' in grant)) {
      return this.#announce(service, reading.spec, grant, announcer, context);
    }
    return grant.kind === 'refused' ? grant : { ...waiting, message };
  }

  async #withdraw(
    service: Service,
    holding: Holding,
    context: ProviderContext,
    message: string,
  ): Promise<void> {
    const isAnnounced = announcers[holding.announcer].statusWriter === 'announcer';
    const now = this.#options.clock.wallTime();
    const change: ServiceChange = isAnnounced
      ? withdrawn(service, holding, now)
      : { annotations: { [holdingAnnotation]: formatHolding(stopped(holding, now)) } };
    const written = service.metadata?.annotations?.[holdingAnnotation];
    if (change.spec === undefined && written === change.annotations[holdingAnnotation]) return;
    await context.annotate(change.annotations, { spec: change.spec });
    context.recordEvent('Withdrawn', message);
  }

  #putOnNode(service: Service, { demand }: PoolServiceSpec): EnsureOutcome {
    const { nodes, node } = this.#options;
    const outcome = putOnNode(service, demand.families, nodes.values(), node);
    if (outcome.kind !== 'refused') this.#onNode.add(service.metadata?.uid ?? '');
    return outcome;
  }

  async #found(
    { announcer }: PoolServiceSpec,
    holding: Holding | undefined,
    signal: AbortSignal,
  ): Promise<readonly AnnouncerName[]> {
    const decided = announcer ?? this.#options.announcer ?? holding?.announcer;
    return decided === undefined ? this.#options.detector.find(signal) : [];
  }

  #announce(
    service: Service,
    spec: PoolServiceSpec,
    grant: Grant,
    announcer: Announcer,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    this.#announcers.set(service.metadata?.uid ?? '', announcer.name);
    return this.#announcements.announce(service, spec, grant, announcer, context);
  }
}

const waiting = {
  kind: 'pending',
  message: 'The pool has no free address; the Service waits for the next one',
  retryAfterMs: waitMs,
} as const satisfies EnsureOutcome;
