import type { ServiceProcess } from '../services/service-process.ts';

/** How long a service manager waits before it starts again what has ended. */
const pauseMs = 1_000;

/** A process as its service manager keeps it: what ends, however it ends, is started again. */
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

  /** How often it was started. */
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

  /** Ends it properly and keeps it so. */
  async stop(): Promise<void> {
    this.#giveUp();
    this.resume();
    await this.#process?.stop(10_000);
  }

  /** Ends it without a word and keeps it so. */
  async end(): Promise<void> {
    this.#giveUp();
    this.kill();
    await this.#process?.exited;
  }

  /** Without a word; it comes back by itself. */
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
