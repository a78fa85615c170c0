import type { Address } from '@causeway/base/address/address';
import {
  frontendKey,
  type Frontend,
  type FrontendId,
  type FrontendKey,
} from '../../protocol/frontend.ts';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Random } from '@causeway/base/simulation/random';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { AddressUse } from './address-use.ts';
import { AgentLink } from './agent-link.ts';
import type { AgentClient } from './agent-client-contract.ts';
import type { Work } from '../reasons/decide-work.ts';
import {
  carriersOf,
  decideServing,
  type GenerationServing,
  type ServingFacts,
} from './decide-serving.ts';
import { ConfirmationDelays } from './confirmation-delays.ts';
import { FleetHealth } from './fleet-health.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import {
  nameServices,
  rejectedServices,
  unhealthyServices,
  type FleetReport,
  type GatewayReport,
} from './fleet-report.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';
import { PinRelay } from './pin-relay.ts';
import type { Role } from '../../protocol/role.ts';
import type { GatewayStanding } from './gateway-standing.ts';
import { RemovalLoop } from './removal-loop.ts';
import type { RemovalVerifier } from './removal-verifier.ts';
import { DesiredState, type NamespacePolicies } from './desired-state.ts';

export interface FleetOptions {
  readonly agents: ReadonlyMap<string, AgentClient>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limitMs: number;
  readonly checkEveryMs: number;
  /** Verifies removals that gateways withhold. */
  readonly verifier: RemovalVerifier;
  /** The UID of the cluster that the gateways serve, if known. */
  readonly cluster?: string | undefined;
  /** Takes the facts about the gateways. */
  readonly reasons: ReasonSink;
}

/** Whether the gateways serve a Service. */
export type Serving =
  | GenerationServing
  | { readonly kind: 'wrong'; readonly messages: readonly string[] };

/** How long a hung gateway can delay a start. */
const greetMs = 1_500;

/** All gateways: their desired state, and the state that each of them has confirmed. */
export class AgentFleet {
  readonly #options: FleetOptions;
  readonly #links: readonly AgentLink[];
  readonly #health: FleetHealth;
  readonly #gauges;
  /** Gateways that are fenced, for all addresses or for some. */
  readonly #fenced = new Map<string, 'all' | Set<Address>>();
  readonly #addresses = new AddressUse();
  readonly #removals: RemovalLoop;
  readonly #pins: PinRelay;
  readonly #delays = new ConfirmationDelays();
  readonly #desired = new DesiredState();
  readonly #lastRoles = new Map<string, Role>();
  /** The active gateways that failed at the last call of `takeNotServed`. */
  #failedCarriers = '';
  #isComplete = false;
  #firstGeneration = Number.POSITIVE_INFINITY;

  constructor(options: FleetOptions) {
    const { agents, metrics } = options;
    this.#options = options;
    this.#gauges = {
      reachable: metrics.gauge(fleetMetrics.reachable),
      behind: metrics.gauge(fleetMetrics.behind),
      generation: metrics.gauge(fleetMetrics.generation),
      wanted: metrics.gauge(fleetMetrics.wantedGeneration),
      refused: metrics.gauge(fleetMetrics.refused),
      withheld: metrics.gauge(fleetMetrics.withheld),
      fenced: metrics.gauge(fleetMetrics.fenced),
    };
    const desired = this.#desired;
    const pushes = metrics.counter(fleetMetrics.pushes);
    this.#pins = new PinRelay({ ...options, statusOf: (name) => this.#health.statusOf(name) });
    const gateways = [...agents].map(([name, agent]) => {
      const guard = this.#pins;
      const link = new AgentLink({ ...options, name, agent, desired, pushes, guard });
      return { agent, link };
    });
    this.#links = gateways.map(({ link }) => link);
    this.#health = new FleetHealth({ ...options, gateways });
    this.#removals = new RemovalLoop({ ...options, links: this.#links, desired });
  }

  /**
   * Reads the generation of every gateway, so that new generations are higher than all of them. An
   * unreachable gateway may have a newer one; the generations exceed it when the gateway answers. So the
   * start waits only briefly.
   */
  async start(signal: AbortSignal): Promise<void> {
    const limitMs = Math.min(greetMs, this.#options.limitMs);
    await Promise.all(this.#links.map((link) => link.greet(signal, limitMs)));
    const newest = Math.max(
      // Also above the generations that an earlier controller may have sent to an unreachable gateway.
      this.#options.clock.wallTime(),
      ...this.#links.map(({ reported }) => reported),
    );
    this.#firstGeneration = newest + 1;
    this.#desired.startAt(this.#firstGeneration);
  }

  /** Marks the state as complete. From now on it is pushed. */
  complete(): void {
    this.#isComplete = true;
    this.#nudge();
  }

  /** Returns the generation with these frontends. */
  setService(key: string, frontends: readonly Frontend[]): number {
    const generation = this.#change((state) => state.setService(key, frontends));
    const addresses = new Set(frontends.map(({ address }) => address));
    this.#addresses.set(key, addresses, this.generation);
    return generation;
  }

  setNodes(addresses: readonly Address[]): void {
    this.#change((state) => state.setNodes(addresses));
  }

  /** Whether gateways observe by probes which nodes answer. It is assumed until their status is known. */
  get decidesByProbes(): boolean {
    const statuses = this.#links.flatMap(({ name }) => this.#health.statusOf(name) ?? []);
    return statuses.length === 0 || statuses.some(({ unhealthy }) => unhealthy.heard > 0);
  }

  setPolicies(namespace: string, wanted: NamespacePolicies): void {
    this.#change((state) => state.setPolicies(namespace, wanted));
  }

  /**
   * Whether the gateways serve the frontends of this generation. The active gateway decides.
   */
  servingSince(generation: number, frontends: readonly FrontendId[]): Serving {
    const messages = this.#complaintsAbout(frontends);
    if (messages.length > 0) return { kind: 'wrong', messages };
    return decideServing(this.#servingFacts(), generation);
  }

  /**
   * Takes the Services that the active gateways don't serve, once for each change of the active gateways or of
   * their failures.
   */
  takeNotServed(): ReadonlySet<string> {
    const failed = carriersOf(this.#servingFacts()).filter(({ failure }) => failure !== undefined);
    const names = failed.map(({ name }) => name).join();
    if (names === this.#failedCarriers) return new Set();
    this.#failedCarriers = names;
    const confirmed = Math.min(...failed.map((facts) => facts.confirmed));
    return this.servicesOf(failed.length === 0 ? [] : this.#desired.frontendsSince(confirmed));
  }

  #servingFacts(): readonly ServingFacts[] {
    return this.#links.map(({ name, failure, downForMs, confirmed }) => ({
      ...{ name, downForMs, confirmed },
      failure: failure?.message,
      isFenced: this.#fenced.get(name) === 'all',
      role: this.#health.statusOf(name)?.announcer.role,
      lastRole: this.#lastRoles.get(name),
    }));
  }

  /** Why running connections of these frontends may not survive a failover; undefined if they do. */
  failoverRisk(frontends: readonly FrontendId[]): string | undefined {
    return this.#pins.riskOf(frontends);
  }

  /** The reachable gateways that have not confirmed the generation yet. */
  behind(generation: number): readonly string[] {
    return this.#links
      .filter(({ failure, confirmed }) => failure === undefined && confirmed < generation)
      .map(({ name }) => name);
  }

  /** The reachable gateways that still serve removed frontends of this Service. */
  withholding(service: string): readonly string[] {
    return this.#links
      .filter(({ failure }) => failure === undefined)
      .filter(({ removals }) =>
        [...removals.frontends.values()].some((frontend) => frontend.service === service),
      )
      .map(({ name }) => name);
  }

  get generation(): number {
    return this.#desired.generation;
  }

  /**
   * Asks all gateways whether they still have the confirmed state. A gateway without an answer keeps its
   * known state.
   */
  async check(signal: AbortSignal): Promise<void> {
    await Promise.allSettled(this.#links.map((link) => link.check(signal)));
    signal.throwIfAborted();
  }

  /**
   * The gateways that may still announce the address, so that it must not be assigned again. They have not
   * confirmed a state without it, and are not fenced.
   */
  mayAnnounce(address: Address): readonly string[] {
    const isWanted = this.#addresses.isUsed(address);
    const leftIn = this.#addresses.leftIn(address) ?? this.#firstGeneration;
    return this.#links
      .filter(({ name }) => !this.#isFencedFor(name, address))
      .filter((link) => isWanted || link.confirmed < leftIn || link.stillServes(address))
      .map(({ name }) => name);
  }

  /** Whether only fences prevent the gateways from announcing the address. */
  isOnlyFenced(address: Address): boolean {
    const leftIn = this.#addresses.leftIn(address) ?? this.#firstGeneration;
    return this.#links.some(
      (link) =>
        this.#isFencedFor(link.name, address) &&
        (link.confirmed < leftIn || link.stillServes(address)),
    );
  }

  /** Records that the gateway can't announce these addresses, or any address: the network blocks them. */
  fence(name: string, addresses: 'all' | Iterable<Address> = 'all'): void {
    const before = this.#fenced.get(name);
    if (before === 'all') return;
    this.#fenced.set(
      name,
      addresses === 'all' ? 'all' : new Set([...(before ?? []), ...addresses]),
    );
  }

  unfence(name: string, addresses: 'all' | Iterable<Address> = 'all'): void {
    const before = this.#fenced.get(name);
    if (addresses === 'all') this.#fenced.delete(name);
    else if (before instanceof Set) for (const address of addresses) before.delete(address);
  }

  standings(): readonly GatewayStanding[] {
    return this.#links.map((link) => ({
      name: link.name,
      downForMs: link.downForMs,
      failure: link.failure?.message,
      generation: link.reported,
      isCurrent: this.#isComplete && isUpToDate(link, this.generation),
      isActive: this.#health.statusOf(link.name)?.announcer.role === 'active',
      role: this.#health.statusOf(link.name)?.announcer.role,
      isFenced: this.#fenced.get(link.name) === 'all',
      refusedFrontends: link.complaints.size,
      withheldRemovals: link.removals.frontends.size,
      complaints: [
        ...link.complaints.general,
        ...[link.removals.describe() ?? []].flat(),
        ...(this.#pins.isLate(link.name) ? ['has not acknowledged the pins of connections'] : []),
        ...(this.#health.statusOf(link.name)?.alarms ?? []),
        ...[this.#health.differentSeeds ?? []].flat(),
      ],
    }));
  }

  /** The state of all gateways, with the Services that they do not serve as desired. */
  report(): FleetReport {
    const standings = this.standings();
    return {
      gateways: this.#links.flatMap((link, index) => {
        const standing = standings[index];
        if (standing === undefined) return [];
        const rejected = rejectedServices(link.complaints, this.#desired);
        return { ...standing, rejected, unconfirmed: this.#unconfirmedBy(link) };
      }),
      unhealthy: unhealthyServices(this.#desired, this.#health.unhealthy),
    };
  }

  #unconfirmedBy({ name, confirmed }: AgentLink): GatewayReport['unconfirmed'] {
    if (!this.#isComplete) return undefined;
    const now = this.#options.clock.monotonic();
    const forMs = this.#delays.note(name, confirmed, this.generation, now);
    if (forMs === undefined) return undefined;
    return { ...nameServices(this.#desired.servicesSince(confirmed)), forMs };
  }

  /** Does the fleet's part of the work. */
  apply({ actions, gateways, allowedRemovals }: Work): void {
    if (allowedRemovals.size > 0) this.#removals.allow(allowedRemovals);
    if (actions.has('refresh-fleet')) {
      const confirmed = this.#links.map((link) => link.confirmed);
      this.#desired.forgetRemoved(Math.min(this.generation, ...confirmed));
      this.#removals.requestIfNeeded();
      this.#show();
    }
    if (actions.has('send-updates')) this.#nudge();
    if (actions.has('agree-on-health')) {
      this.#health.agree(gateways);
      this.#pins.request();
    }
    for (const name of gateways) {
      const role = this.#health.statusOf(name)?.announcer.role;
      if (role !== undefined) this.#lastRoles.set(name, role);
    }
    for (const link of this.#links) {
      // A gateway with an ended status stream may be down: its link asks at once instead of at its next check.
      const isStreamOver =
        gateways.has(link.name) && this.#health.statusOf(link.name) === undefined;
      if (isStreamOver) link.nudge();
    }
  }

  /** The Services of these frontends. */
  servicesOf(frontends: Iterable<FrontendKey>): ReadonlySet<string> {
    const services = [...frontends].flatMap((key) => this.#desired.serviceOf(key) ?? []);
    return new Set(services);
  }

  async run(signal: AbortSignal): Promise<void> {
    const loops = this.#links.map((link): [string, Loop] => [
      `agent ${link.name}`,
      (inner) => link.run(inner),
    ]);
    await supervise(signal, {
      ...Object.fromEntries(loops),
      ...(this.#links.length === 0
        ? {}
        : {
            health: (inner) => this.#health.run(inner),
            'withheld removals': (inner) => this.#removals.loop(inner),
            pins: (inner) => this.#pins.loop(inner),
          }),
    });
  }

  #isFencedFor(name: string, address: Address): boolean {
    const fence = this.#fenced.get(name);
    return fence === 'all' || fence?.has(address) === true;
  }

  /** Pushes only changes. An unchanged Service causes no request to a gateway. */
  #change<T>(change: (state: DesiredState) => T): T {
    const { generation } = this.#desired;
    const answer = change(this.#desired);
    if (this.#desired.generation !== generation) this.#nudge();
    return answer;
  }

  /** Pushes nothing before the state is complete: an incomplete state would remove live Services. */
  #nudge(): void {
    if (!this.#isComplete) return;
    for (const link of this.#links) link.nudge();
  }

  #complaintsAbout(frontends: readonly FrontendId[]): string[] {
    return this.#links.flatMap(({ name, complaints }) =>
      frontends.flatMap((frontend) =>
        complaints
          .about(frontendKey(frontend))
          .map((message) => `${frontend.protocol}/${frontend.port}: ${name}: ${message}`),
      ),
    );
  }

  #show(): void {
    const newest = this.generation;
    this.#gauges.wanted.set({}, newest);
    for (const { name, failure, confirmed, reported, complaints, removals } of this.#links) {
      this.#gauges.reachable.set({ gateway: name }, failure === undefined ? 1 : 0);
      this.#gauges.behind.set({ gateway: name }, confirmed < newest ? 1 : 0);
      this.#gauges.generation.set({ gateway: name }, reported);
      this.#gauges.refused.set({ gateway: name }, complaints.size);
      this.#gauges.withheld.set({ gateway: name }, removals.frontends.size);
      this.#gauges.fenced.set({ gateway: name }, this.#fenced.get(name) === 'all' ? 1 : 0);
    }
  }
}

/** Whether the gateway has the newest state and serves nothing else. */
function isUpToDate({ failure, confirmed, removals }: AgentLink, newest: number): boolean {
  return failure === undefined && confirmed >= newest && removals.frontends.size === 0;
}
