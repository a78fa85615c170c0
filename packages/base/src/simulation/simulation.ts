import { CausewayError } from '../error/causeway-error.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { seededRandom, type Random } from './random.ts';
import { settled, SimulatedClock } from '../time/simulated-clock.ts';

interface Step {
  readonly label: string;
  readonly process: SimulatedProcess;
  /** What was sent and takes place whatever becomes of who sent it; else somebody has to hear of it. */
  readonly isOnItsWay: boolean;
  run(): void | Promise<void>;
}

/** How often a hasty simulation lets time move instead of taking a step. */
const hasteChance = 0.05;

/**
 * Runs concurrent code on one seed. Every outside call goes through a process's `call`, and becomes
 * two steps: the effect takes place, later the caller hears of it. Which of all the waiting steps
 * comes next is drawn from the seed; when none waits, time moves to the next timer. With `hasteMs`
 * time also moves on while steps wait, now and then and by so much at most: what runs by the clock
 * comes between them, and what waits too long runs into its deadline. The same seed gives the same order of events, so a failure
 * can be replayed.
 *
 * The code under test must wait for nothing but its `call`s and its clock: no real timers, no I/O.
 */
export class Simulation {
  readonly seed: number;
  readonly random: Random;
  readonly clock = new SimulatedClock();
  /** What happened, in order; print it when a seed fails. */
  readonly trace: string[] = [];
  readonly #hasteMs: number;
  #steps: Step[] = [];

  constructor(seed: number, options: { readonly hasteMs?: number } = {}) {
    this.seed = seed;
    this.#hasteMs = options.hasteMs ?? 0;
    this.random = seededRandom(seed);
  }

  /** A process of its own, which can be killed without the others. */
  process(name: string): SimulatedProcess {
    return new SimulatedProcess(name, this, (step) => this.#steps.push(step));
  }

  /**
   * Runs until the goal holds while nothing is under way that could change it at once. Throws with
   * the seed and the trace's end when the steps run out or nothing can happen any more.
   */
  async runUntil(goal: () => boolean, options: { maxSteps?: number } = {}): Promise<void> {
    const { maxSteps = 10_000 } = options;
    for (let count = 0; count < maxSteps; count += 1) {
      await settled();
      if (goal()) return;
      if (!(await this.#step())) throw this.#failure('nothing can happen any more');
    }
    throw this.#failure(`the goal was not reached in ${maxSteps} steps`);
  }

  /** Runs until no step is waiting and no timer is set before the time is up. */
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
    const runnable = this.#steps.filter((step) => step.isOnItsWay || !step.process.isPaused);
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

/** One process of a simulation: its own view of the clock and its own outside calls. */
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
  /** Since when, by everybody else's clock, its machine is suspended. */
  #suspendedAt: number | undefined;
  /** For how long it was in all: its monotonic clock knows nothing of that. */
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

  /** Fires when the process is killed: its connections break. For the other ends, not for its own code. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** How many outside calls were begun: the length of an interruption matrix. */
  get calls(): number {
    return this.#calls.length;
  }

  /** Their labels, in order: the calls that an interruption matrix must cover. */
  get callLabels(): readonly string[] {
    return this.#calls;
  }

  /** An outside call: the effect, and later the answer or the error, each when its turn comes. */
  call<T>(label: string, effect: () => T | Promise<T>): Promise<T> {
    const number = this.#calls.push(label);
    return new Promise<T>((resolve, reject) => {
      const reply = (suffix: string, tell: () => void) => {
        if (this.#isDueToDie(number, 'after')) this.kill();
        this.#add(`${label} ${suffix}`, tell);
      };
      const takePlace = async () => {
        if (this.#isDueToDie(number, 'before')) {
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

  /** Something reaches the process without being asked for at this moment: a line of a watch. */
  deliver(label: string, run: () => void): void {
    this.#add(label, run);
  }

  /** The process stands still while time goes on: it hears nothing, and its timers wait. */
  pause(): void {
    this.#isPaused = true;
    this.#simulation.trace.push(`${this.clock.monotonic()} ${this.name} is paused`);
  }

  /** Its machine stands still, and its monotonic clock with it: it can't notice afterwards. */
  suspend(): void {
    this.#suspendedAt ??= this.#simulation.clock.monotonic();
    this.pause();
  }

  /** It goes on where it stood; what was due meanwhile is due now, by its own clock. */
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

  /** Ends the process where it stands: nothing it waits for ever comes, nothing it planned happens. */
  kill(): void {
    this.#isKilled = true;
    this.#simulation.trace.push(`${this.clock.monotonic()} ${this.name} is killed`);
    this.#ended.abort();
  }

  /** Kills the process right before or right after the effect of its call of that number (from 1). */
  killAt(call: number, moment: 'before' | 'after'): void {
    this.#killAt = { call, moment };
  }

  #isDueToDie(call: number, moment: 'before' | 'after'): boolean {
    return this.#killAt?.call === call && this.#killAt.moment === moment;
  }

  #add(label: string, run: () => void | Promise<void>, isOnItsWay = false): void {
    this.#schedule({ label: `${this.name}: ${label}`, process: this, run, isOnItsWay });
  }
}
