import { CausewayError } from '../error/causeway-error.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { seededRandom, type Random } from './random.ts';
import { settled, SimulatedClock } from '../time/simulated-clock.ts';

interface Step {
  readonly label: string;
  readonly process: SimulatedProcess;
  /**
   * True for a sent call, which takes effect even if its sender is paused; false for a delivery to the
   * process.
   */
  readonly isSent: boolean;
  run(): void | Promise<void>;
}

/** The probability that a hasty simulation advances time instead of taking a step. */
const hasteChance = 0.05;

/**
 * Runs concurrent code from one seed. Every outside call goes through a process's `call` and becomes two
 * steps: the effect, and later the answer to the caller. The seed selects the next of all waiting steps. If
 * none waits, time moves to the next timer.
 *
 * With `hasteMs`, time sometimes advances while steps wait, by at most this much. Timers then fire between
 * steps, and long waits exceed their deadlines. The same seed gives the same order of events, so a failure
 * can be replayed.
 *
 * The code under test must wait only for its `call`s and its clock: no real timers, no I/O.
 */
export class Simulation {
  readonly seed: number;
  readonly random: Random;
  readonly clock = new SimulatedClock();
  /** The steps so far, in order. Print it when a seed fails. */
  readonly trace: string[] = [];
  readonly #hasteMs: number;
  #steps: Step[] = [];

  constructor(seed: number, options: { readonly hasteMs?: number } = {}) {
    this.seed = seed;
    this.#hasteMs = options.hasteMs ?? 0;
    this.random = seededRandom(seed);
  }

  /** Creates a process that can be killed independently of the others. */
  process(name: string): SimulatedProcess {
    return new SimulatedProcess(name, this, (step) => this.#steps.push(step));
  }

  /**
   * Runs until the goal holds after all promises have settled. Throws an error with the seed and the end of
   * the trace if `maxSteps` is reached, or if no step and no timer is left.
   */
  async runUntil(goal: () => boolean, options: { maxSteps?: number } = {}): Promise<void> {
    const { maxSteps = 10_000 } = options;
    for (let count = 0; count < maxSteps; count += 1) {
      await settled();
      if (goal()) return;
      if (!(await this.#step())) throw this.#failure('no step and no timer is left');
    }
    throw this.#failure(`the goal was not reached in ${maxSteps} steps`);
  }

  /** Runs all steps and timers of this simulated time. */
  async runFor(durationMs: number): Promise<void> {
    const end = this.clock.monotonic() + durationMs;
    this.clock.timer(durationMs, () => {});
    while (this.clock.monotonic() < end) {
      await settled();
      await this.#step();
    }
    await settled();
  }

  async #step(): Promise<boolean> {
    this.#steps = this.#steps.filter((step) => !step.process.isKilled);
    const runnable = this.#steps.filter((step) => step.isSent || !step.process.isPaused);
    const chosen = runnable[Math.floor(this.random() * runnable.length)];
    if (chosen === undefined) return this.clock.fireNext();
    if (this.#hasteMs > 0 && this.random() < hasteChance) {
      await this.clock.advance(Math.ceil(this.random() * this.#hasteMs));
      return true;
    }
    this.#steps.splice(this.#steps.indexOf(chosen), 1);
    this.trace.push(`${this.clock.monotonic()} ${chosen.label}`);
    await chosen.run();
    return true;
  }

  #failure(message: string): CausewayError {
    const tail = this.trace.slice(-20).join('\n  ');
    return new CausewayError('internal', `seed ${this.seed}: ${message}; last steps:\n  ${tail}`);
  }
}

type Schedule = (step: Step) => void;

/** One process of a simulation, with its own clock and its own outside calls. */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly #schedule: Schedule;
  readonly #simulation: Simulation;
  readonly #calls: string[] = [];
  readonly #ended = new AbortController();
  readonly #overdue: (() => void)[] = [];
  #isKilled = false;
  #isPaused = false;
  /** When its machine was suspended, by the simulation's clock. */
  #suspendedAt: number | undefined;
  /** The total time of suspension, which its monotonic clock does not count. */
  #lostMs = 0;
  #killAt: { readonly call: number; readonly moment: 'before' | 'after' } | undefined;

  constructor(name: string, simulation: Simulation, schedule: Schedule) {
    this.name = name;
    this.#schedule = schedule;
    this.#simulation = simulation;
    this.clock = {
      wallTime: () => simulation.clock.wallTime(),
      monotonic: () => (this.#suspendedAt ?? simulation.clock.monotonic()) - this.#lostMs,
      timer: (delayMs, callback): Timer => this.#timer(delayMs, callback),
    };
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Fires when the process is killed, which breaks its connections. For the other ends, not for its own code.
   */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The number of outside calls so far: the length of an interruption matrix. */
  get calls(): number {
    return this.#calls.length;
  }

  /** The labels of the calls in order, which an interruption matrix must cover. */
  get callLabels(): readonly string[] {
    return this.#calls;
  }

  /** An outside call: two steps, the effect and later the answer or the error. */
  call<T>(label: string, effect: () => T | Promise<T>): Promise<T> {
    const number = this.#calls.push(label);
    return new Promise<T>((resolve, reject) => {
      const reply = (suffix: string, deliver: () => void) => {
        if (this.#isKillDue(number, 'after')) this.kill();
        this.#add(`${label} ${suffix}`, deliver);
      };
      const takePlace = async () => {
        if (this.#isKillDue(number, 'before')) {
          this.kill();
          return;
        }
        try {
          const value = await effect();
          reply('answers', () => resolve(value));
        } catch (error) {
          reply('fails', () => reject(CausewayError.from(error)));
        }
      };
      this.#add(`${label} takes place`, takePlace, true);
    });
  }

  /** Delivers something that the process did not request at this moment, such as a line of a watch. */
  deliver(label: string, run: () => void): void {
    this.#add(label, run);
  }

  /** Stops the process while time goes on: it receives nothing, and its timers wait. */
  pause(): void {
    this.#isPaused = true;
    this.#simulation.trace.push(`${this.clock.monotonic()} ${this.name} is paused`);
  }

  /**
   * Stops the machine of the process, and its monotonic clock with it. The process can't detect it
   * afterwards.
   */
  suspend(): void {
    this.#suspendedAt ??= this.#simulation.clock.monotonic();
    this.pause();
  }

  /** Continues a paused process. Timers that became due by its own clock fire now. */
  resume(): void {
    this.#isPaused = false;
    if (this.#suspendedAt !== undefined) {
      this.#lostMs += this.#simulation.clock.monotonic() - this.#suspendedAt;
      this.#suspendedAt = undefined;
    }
    this.#simulation.trace.push(`${this.clock.monotonic()} ${this.name} goes on`);
    for (const fire of this.#overdue.splice(0)) this.#simulation.clock.timer(0, fire);
  }

  #timer(delayMs: number, callback: () => void): Timer {
    let isCancelled = false;
    const dueAt = this.clock.monotonic() + delayMs;
    const fire = () => {
      if (this.#isKilled || isCancelled) return;
      const restMs = dueAt - this.clock.monotonic();
      if (this.#isPaused) this.#overdue.push(fire);
      else if (restMs > 0) timer = this.#simulation.clock.timer(restMs, fire);
      else callback();
    };
    let timer = this.#simulation.clock.timer(delayMs, fire);
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  /** Ends the process at once: it receives no more answers, and its timers never fire. */
  kill(): void {
    this.#isKilled = true;
    this.#simulation.trace.push(`${this.clock.monotonic()} ${this.name} is killed`);
    this.#ended.abort();
  }

  /** Kills the process right before or right after the effect of its nth call (from 1). */
  killAt(call: number, moment: 'before' | 'after'): void {
    this.#killAt = { call, moment };
  }

  #isKillDue(call: number, moment: 'before' | 'after'): boolean {
    return this.#killAt?.call === call && this.#killAt.moment === moment;
  }

  #add(label: string, run: () => void | Promise<void>, isSent = false): void {
    this.#schedule({ label: `${this.name}: ${label}`, process: this, run, isSent });
  }
}
