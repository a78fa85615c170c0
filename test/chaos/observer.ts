import { setTimeout as delay } from 'node:timers/promises';
import type { Chronicle } from './chronicle.ts';
import { findLostAddresses, findSharedPlaces, findTakenTwice, OutageJudge } from './judge.ts';
import type { Attempt, Target } from './attempt.ts';
import { startAttempts, type Attempts } from './attempts.ts';
import { answerKey, type Observation, type SeenService } from './observation.ts';
import { fencedGateways } from '../kernel/gateway/port-security.ts';
import { observeSleeper, sleeperAnswer, sleeperName } from './sleeper.ts';
import type { System } from './system.ts';
import type { User } from './user.ts';
import {
  observeBalancers,
  observeCloud,
  observeDiscovery,
  observeGateways,
  observeLedger,
  observeServices,
} from './watching.ts';

const attemptEveryMs = 1_000;
const attemptLimitMs = 4_000;
/** A failover takes a second, or a few more on an overloaded machine. */
const outageLimitMs = 20_000;
/**
 * For this long after a fault of its proxy or of Kubernetes, a connection to the idled Service may be
 * refused.
 */
const refusalExcuseMs = 60_000;
const callEveryMs = 5_000;
/** A client that waits sends its seventh packet after 127 s. */
const callLimitMs = 150_000;

/** Checks everything all the time through paths without faults, and reports violations. */
export class Observer {
  readonly #system: System;
  readonly #user: User;
  readonly #chronicle: Chronicle;
  readonly #outages = new OutageJudge(outageLimitMs);
  readonly #attempting: Attempts;
  readonly #calling: Attempts;
  readonly #stop = new AbortController();
  /** Time until which outages are excused by a fault; undefined while one lasts. */
  excusedUntil: number | undefined = 0;
  #services: readonly SeenService[] = [];
  #targets = new Map<string, string>();
  #answers = new Map<string, string | undefined>();
  #sleeperExcusedAt = 0;
  #reported = new Set<string>();
  #translated = '';
  #fenced = '';
  #ended: Promise<void> = Promise.resolve();

  constructor(system: System, user: User, chronicle: Chronicle) {
    this.#system = system;
    this.#user = user;
    this.#chronicle = chronicle;
    const { topology, sleeperAddress: host } = system;
    const far = { machine: 'world', everyMs: attemptEveryMs, limitMs: attemptLimitMs };
    this.#attempting = startAttempts(topology, far, (attempt) => this.#recordAttempt(attempt));
    const near = { machine: 'p1', everyMs: callEveryMs, limitMs: callLimitMs };
    this.#calling = startAttempts(topology, near, (attempt) => this.#recordSleeperAttempt(attempt));
    this.#calling.at([{ key: sleeperName, host, port: 80 }]);
  }

  start(): void {
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    await this.#attempting.stop();
    await this.#calling.stop();
  }

  /** A fault begins or ends there. */
  fault(place: string): void {
    if (place.startsWith('proxy') || place === 'kubernetes') this.#sleeperExcusedAt = Date.now();
  }

  /** From now on only fresh answers count. */
  dropAnswers(): void {
    this.#answers = new Map();
  }

  /** Current state of everything. Fails when a component does not answer. */
  async check(): Promise<Observation> {
    const { clients, topology, ledger } = this.#system;
    const signal = this.#patience();
    const [services, cloud, balancers, gateways, reservations, discovery, sleeper] =
      await Promise.all([
        observeServices(clients, signal),
        observeCloud(clients, signal),
        observeBalancers(clients, signal),
        observeGateways(topology, signal),
        observeLedger(ledger, signal),
        observeDiscovery(clients, signal),
        observeSleeper(clients.kube, signal),
      ]);
    const seen = { services, cloud, balancers, gateways, ...reservations, ...discovery, sleeper };
    return { ...seen, answers: this.#answers };
  }

  /** Timeout of a component that does not answer. */
  #patience(): AbortSignal {
    return AbortSignal.timeout(this.#system.pace.answerMs);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const beganAt = performance.now();
      // A restart of an observed component is not a violation.
      await this.#observeServices().catch(() => undefined);
      await this.#simulateCloud().catch(() => undefined);
      // Observing must not slow down an overloaded system.
      const pauseMs = Math.max(this.#system.pace.observeMs, 3 * (performance.now() - beganAt));
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #observeServices(): Promise<void> {
    const services = await observeServices(this.#system.clients, this.#patience());
    const lost = findLostAddresses(this.#services, services, (name) =>
      this.#user.isUntouched(name),
    );
    const held = [...this.#user.ledger.held].map(
      ([owner, { address }]) => [owner, address] as const,
    );
    const taken = findTakenTwice(services, held);
    for (const text of [...findSharedPlaces(services), ...lost, ...taken]) this.#reportOnce(text);
    this.#services = services;
    this.#attemptAt(services);
  }

  /** A state that lasts is one violation. */
  #reportOnce(text: string): void {
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#chronicle.violation(text);
  }

  #attemptAt(services: readonly SeenService[]): void {
    const targets: Target[] = [];
    const names = new Map<string, string>();
    for (const { name, isDeleting, isReady, addresses } of services) {
      const desired = this.#user.desiredServices.services.get(name);
      if (isDeleting || !isReady || desired?.serviceClass !== 'gateway') continue;
      for (const host of addresses) {
        const key = answerKey(name, host, desired.port);
        targets.push({ key, host, port: desired.port });
        names.set(key, name);
      }
    }
    for (const key of this.#targets.keys()) if (!names.has(key)) this.#outages.drop(key);
    this.#targets = names;
    this.#attempting.at(targets);
  }

  #recordAttempt(attempt: Attempt): void {
    const { key, said } = attempt;
    const name = this.#targets.get(key);
    if (name === undefined) return;
    this.#answers.set(key, said);
    if (said !== undefined) {
      this.#outages.answered(key);
      this.#judgeAnswer(name, key, said);
      return;
    }
    if (!this.#user.isUntouched(name)) {
      this.#outages.drop(key);
      return;
    }
    const outage = this.#outages.failed(attempt, this.excusedUntil);
    if (outage === undefined) return;
    const { ms, error } = outage;
    this.#chronicle.violation(`${key} has not answered for ${Math.round(ms / 1000)} s: ${error}`);
  }

  /** Every connection to it is served in the end, even while it is idle. */
  #recordSleeperAttempt({ key, said, error = '', beganAt, tookMs }: Attempt): void {
    this.#answers.set(key, said);
    const isRight = said === sleeperAnswer;
    const isExcused = Date.now() - this.#sleeperExcusedAt < refusalExcuseMs + tookMs;
    if (isRight || (said === undefined && error.includes('ECONNREFUSED') && isExcused)) return;
    const when = new Date(beganAt).toISOString();
    const what = said === undefined ? error : `answered by ${said}`;
    this.#chronicle.violation(`a connection to the idled Service, begun ${when}: ${what}`);
  }

  #judgeAnswer(name: string, key: string, said: string): void {
    const desired = this.#user.desiredServices.services.get(name);
    if (desired === undefined || !this.#user.isUntouched(name)) return;
    const [pod, port] = said.split(' ');
    if (Number(port) !== desired.targetPort)
      this.#reportOnce(`${key} is answered by ${said}, a pod of another Service`);
    else if (!desired.pods.some((each) => each === pod))
      this.#reportOnce(`${key} is answered by ${said}, which is not one of its pods`);
  }

  /** Simulates the cloud according to Neutron: its router translates floating IPs, its ports drop packets. */
  async #simulateCloud(): Promise<void> {
    const { floating, ports, allowed } = await observeCloud(this.#system.clients, this.#patience());
    await this.#system.security.obey(allowed);
    this.#reportFences(fencedGateways(allowed).join(' and '));
    const state = JSON.stringify([...floating, ...ports]);
    if (state === this.#translated) return;
    await this.#system.world.translate();
    this.#translated = state;
  }

  #reportFences(fenced: string): void {
    if (fenced === this.#fenced) return;
    this.#chronicle.log(fenced === '' ? 'no gateway is fenced' : `fenced: ${fenced}`);
    this.#fenced = fenced;
  }
}
