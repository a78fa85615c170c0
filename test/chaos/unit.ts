import type { ServiceProcess } from '../services/service-process.ts';

/** Pause of a service manager before a restart. */
const pauseMs = 1_000;

/** A process under a simulated service manager: it is restarted however it ends. */
export class Unit {
  readonly name: string;
  readonly #start: () => ServiceProcess;
  #process: ServiceProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isWanted = false;
  #starts = 0;

  constructor(name: string, start: () => ServiceProcess) {
    this.name = name;
    this.#start = start;
  }

  /** Number of starts. */
  get starts(): number {
    return this.#starts;
  }

  isRunning(): boolean {
    return this.#process?.isRunning() === true;
  }

  start(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#launch();
  }

  /** Ends it gracefully and keeps it stopped. */
  async stop(): Promise<void> {
    this.#giveUp();
    this.resume();
    await this.#process?.stop(10_000);
  }

  /** Kills it and keeps it stopped. */
  async end(): Promise<void> {
    this.#giveUp();
    this.kill();
    await this.#process?.exited;
  }

  /** Kills it; the service manager restarts it. */
  kill(): void {
    this.#process?.kill('SIGKILL');
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  #giveUp(): void {
    this.#isWanted = false;
    clearTimeout(this.#timer);
  }

  #launch(): void {
    const process = this.#start();
    this.#process = process;
    this.#starts += 1;
    void process.exited.then(() => {
      if (!this.#isWanted) return;
      this.#timer = setTimeout(() => this.#launch(), pauseMs);
    });
  }
}
