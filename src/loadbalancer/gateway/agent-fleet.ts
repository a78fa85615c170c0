import type { Address } from '../../domain/address.ts';
import {
  endpointKey,
  type Endpoint,
  type EndpointId,
  type EndpointKey,
} from '../../agent/model/endpoint.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import { supervise, type Loop } from '../../runtime/supervisor.ts';
import { AddressUse } from './address-use.ts';
import { AgentLink, type AgentPort } from './agent-link.ts';
import { FleetHealth } from './fleet-health.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { WantedState, type NamespacePolicies } from './wanted-state.ts';

export interface FleetOptions {
  readonly agents: ReadonlyMap<string, AgentPort>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limitMs: number;
  readonly checkEveryMs: number;
  /** Something about the gateways has changed: what waits for them may go on. */
  readonly onNews: () => void;
  /** A gateway has begun or ceased to complain about this Service. */
  readonly onComplaint: (service: string) => void;
}

/** How a Service stands with the gateways. */
export type Serving =
  | { readonly kind: 'served' }
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'wrong'; readonly messages: readonly string[] };

/** All gateways: what they are to serve, and what each of them has confirmed. */
export class AgentFleet {
  readonly #options: FleetOptions;
  readonly #links: readonly AgentLink[];
  readonly #health: FleetHealth;
  readonly #gauges;
  readonly #fenced = new Set<string>();
  readonly #addresses = new AddressUse();
  #state: WantedState | undefined;
  #isComplete = false;
  /**
   * A gateway has taken our whole state without objecting to what it takes away. Whatever leaves the
   * state after that was seen to be deleted or released, so removals are meant.
   */
  #isVouched = false;
  #firstGeneration = Number.POSITIVE_INFINITY;

  constructor(options: FleetOptions) {
    const { clock, random, log, metrics, limitMs, checkEveryMs, onNews } = options;
    this.#options = options;
    this.#gauges = {
      reachable: metrics.gauge(fleetMetrics.reachable),
      behind: metrics.gauge(fleetMetrics.behind),
      refused: metrics.gauge(fleetMetrics.refused),
    };
    this.#health = new FleetHealth({ ...options, onNews: () => {} });
    const pushes = metrics.counter(fleetMetrics.pushes);
    this.#links = [...options.agents].map(
      ([name, agent]) =>
        new AgentLink({
          name,
          agent,
          clock,
          random,
          log,
          limitMs,
          checkEveryMs,
          meansRemoval: () => this.#isVouched,
          onNews: () => this.#noticed(onNews),
          onPush: (outcome) => pushes.add({ gateway: name, outcome }),
          onComplaints: (endpoints) => this.#complained(endpoints),
        }),
    );
  }

  /**
   * Asks every gateway for its generation, so that ours are beyond all of them. One that can't be
   * reached now may hold a newer one; it will say so when it refuses a push.
   */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#links.map((link) => link.greet(signal)));
    const newest = Math.max(
      // Also beyond what an unreachable one may have been sent by an earlier controller.
      this.#options.clock.wallTime(),
      ...this.#links.map(({ confirmed }) => confirmed),
    );
    this.#firstGeneration = newest + 1;
    this.#state = new WantedState(this.#firstGeneration);
  }

  /** From now on the state is complete, and may be pushed. */
  complete(): void {
    this.#isComplete = true;
    this.#nudge();
  }

  /** Answers with the generation that has these endpoints. */
  setService(key: string, endpoints: readonly Endpoint[]): number {
    const generation = this.#change((state) => state.setService(key, endpoints));
    const addresses = new Set(endpoints.map(({ address }) => address));
    this.#addresses.set(key, addresses, this.#wanted.generation);
    return generation;
  }

  setNodes(addresses: readonly Address[]): void {
    this.#change((state) => state.setNodes(addresses));
  }

  setPolicies(namespace: string, wanted: NamespacePolicies): void {
    this.#change((state) => state.setPolicies(namespace, wanted));
  }

  /** Whether the gateways serve what they were given in this generation. One that is down is not waited for. */
  servingSince(generation: number, endpoints: readonly EndpointId[]): Serving {
    const messages = this.#complaintsAbout(endpoints);
    if (messages.length > 0) return { kind: 'wrong', messages };
    const reachable = this.#links.filter(({ failure }) => failure === undefined);
    if (reachable.length === 0) {
      const [first] = this.#links;
      const why = first?.failure === undefined ? 'none is configured' : first.failure.message;
      return { kind: 'waiting', message: `No gateway can be reached: ${why}` };
    }
    const behind = reachable.filter(({ confirmed }) => confirmed < generation);
    if (behind.length === 0) return { kind: 'served' };
    return { kind: 'waiting', message: `Waiting for ${behind.map(({ name }) => name).join(', ')}` };
  }

  /**
   * The gateways that may still announce the address, which must therefore not be given to anybody
   * else: they have not confirmed a state without it, and are not fenced.
   */
  mayAnnounce(address: Address): readonly string[] {
    const isWanted = this.#addresses.isUsed(address);
    const leftIn = this.#addresses.leftIn(address) ?? this.#firstGeneration;
    return this.#links
      .filter(({ name }) => !this.#fenced.has(name))
      .filter((link) => isWanted || link.confirmed < leftIn || link.stillServes(address))
      .map(({ name }) => name);
  }

  /** The gateway can't announce anything that is ours any more: its ports were shut. */
  fence(name: string): void {
    this.#fenced.add(name);
    this.#options.onNews();
  }

  async run(signal: AbortSignal): Promise<void> {
    const state = this.#wanted;
    const loops = this.#links.map((link): [string, Loop] => [
      `agent ${link.name}`,
      (inner) => link.run(state, inner),
    ]);
    await supervise(signal, {
      ...Object.fromEntries(loops),
      ...(this.#links.length === 0 ? {} : { health: (inner) => this.#health.run(inner) }),
    });
  }

  get #wanted(): WantedState {
    if (this.#state === undefined) throw new Error('the fleet was not started');
    return this.#state;
  }

  /** Only what is new is pushed: a look at a Service that finds it as it was bothers no gateway. */
  #change<T>(change: (state: WantedState) => T): T {
    const state = this.#wanted;
    const { generation } = state;
    const answer = change(state);
    if (state.generation !== generation) this.#nudge();
    return answer;
  }

  /** Nothing is pushed before everything is known: a state with holes would take live Services away. */
  #nudge(): void {
    if (!this.#isComplete) return;
    for (const link of this.#links) link.nudge();
  }

  #noticed(onNews: () => void): void {
    const confirmed = this.#links.map((link) => link.confirmed);
    this.#isVouched ||= confirmed.some((generation) => generation >= this.#firstGeneration);
    this.#state?.forgetRemoved(Math.min(...confirmed));
    this.#show();
    onNews();
  }

  #complaintsAbout(endpoints: readonly EndpointId[]): string[] {
    return this.#links.flatMap(({ name, complaints }) =>
      endpoints.flatMap((endpoint) =>
        complaints
          .about(endpointKey(endpoint))
          .map((message) => `${endpoint.protocol}/${endpoint.port}: ${name}: ${message}`),
      ),
    );
  }

  #complained(endpoints: ReadonlySet<EndpointKey>): void {
    const services = new Set<string>();
    for (const key of endpoints) {
      const service = this.#wanted.serviceOf(key);
      if (service !== undefined) services.add(service);
    }
    for (const service of services) this.#options.onComplaint(service);
  }

  #show(): void {
    const newest = this.#state?.generation ?? 0;
    for (const { name, failure, confirmed, complaints } of this.#links) {
      this.#gauges.reachable.set({ gateway: name }, failure === undefined ? 1 : 0);
      this.#gauges.behind.set({ gateway: name }, confirmed < newest ? 1 : 0);
      this.#gauges.refused.set({ gateway: name }, complaints.size);
    }
  }
}
