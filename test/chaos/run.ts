import { setTimeout as delay } from 'node:timers/promises';
import type { Chronicle } from './chronicle.ts';
import type { Ground } from './fault-kinds.ts';
import type { ServiceClass } from './imagined-user.ts';
import { faultActions } from './fault-actions.ts';
import type { Observer } from './observer.ts';
import { planRounds, type PlannedFault, type Round } from './plan.ts';
import type { System } from './system.ts';
import { findUnsettled } from './unsettled.ts';
import type { User } from './user.ts';

export interface RunOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly ground: Ground;
  /** Time to recover after the last fault. */
  readonly patienceMs: number;
  readonly only: ReadonlySet<string> | undefined;
  readonly classes: readonly ServiceClass[] | undefined;
  readonly signal: AbortSignal;
}

/** Alternates faults and recovery until the time is up; then deletes everything, and nothing may be left. */
export class Run {
  readonly #system: System;
  readonly #user: User;
  readonly #observer: Observer;
  readonly #chronicle: Chronicle;
  readonly #options: RunOptions;
  #trafficFaults = 0;

  constructor(
    system: System,
    user: User,
    observer: Observer,
    chronicle: Chronicle,
    options: RunOptions,
  ) {
    this.#system = system;
    this.#user = user;
    this.#observer = observer;
    this.#chronicle = chronicle;
    this.#options = options;
  }

  async all(): Promise<void> {
    const { seed, minutes, ground, only, classes, signal } = this.#options;
    const end = performance.now() + minutes * 60_000;
    for (const round of planRounds(seed, ground, only, classes)) {
      if (performance.now() > end || signal.aborted) break;
      await this.#storm(round);
      if (!(await this.#debounce(`round ${round.number}`))) return;
    }
    this.#user.undoAll();
    await this.#user.done();
    await this.#debounce('the end');
  }

  async #storm({ number, faults, operations }: Round): Promise<void> {
    this.#chronicle.log(`round ${number}`);
    await Promise.all([
      ...faults.map((fault) => this.#suffer(fault)),
      ...operations.map(async ({ atMs, operation }) => {
        await delay(atMs);
        this.#user.do(operation);
      }),
    ]);
    await this.#user.done();
  }

  async #suffer({ atMs, forMs, fault }: PlannedFault): Promise<void> {
    await delay(atMs);
    const { name, place, touches } = fault;
    this.#observer.fault(place);
    this.#chronicle.log(`FAULT ${place} ${name}${forMs === 0 ? '' : ` for ${forMs / 1000} s`}`);
    this.#trafficFaults += touches === 'traffic' ? 1 : 0;
    if (this.#trafficFaults > 0) this.#observer.excusedUntil = undefined;
    const end = await faultActions[name](this.#system, place);
    await delay(forMs);
    await end();
    this.#trafficFaults -= touches === 'traffic' ? 1 : 0;
    if (this.#trafficFaults === 0 && touches === 'traffic')
      this.#observer.excusedUntil = Date.now();
    this.#observer.fault(place);
    if (forMs > 0) this.#chronicle.log(`over: ${place} ${name}`);
  }

  /** Waits until everything has recovered. Returns whether it did. */
  async #debounce(what: string): Promise<boolean> {
    const { patienceMs, signal } = this.#options;
    const beganAt = performance.now();
    let nextWordMs = 20_000;
    this.#observer.dropAnswers();
    for (;;) {
      const checkedAt = performance.now();
      const missing = await this.#unsettled();
      const ms = performance.now() - beganAt;
      if (missing.length === 0) {
        const seconds = (ms / 1000).toFixed(1);
        this.#chronicle.log(
          `recovered after ${seconds} s, ${this.#user.desiredServices.services.size} Services`,
        );
        this.#user.debounce();
        return true;
      }
      if (signal.aborted) return false;
      if (ms > patienceMs) {
        for (const text of missing) this.#chronicle.violation(`after ${what}: ${text}`);
        return false;
      }
      if (ms > nextWordMs) {
        this.#chronicle.log(`waiting: ${missing.join('; ')}`);
        nextWordMs *= 2;
      }
      await delay(Math.max(this.#system.pace.observeMs, performance.now() - checkedAt));
    }
  }

  async #unsettled(): Promise<readonly string[]> {
    try {
      return findUnsettled(await this.#observer.check(), this.#user.desiredServices);
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }
}
