import type { ServiceProcess } from './service-process.ts';

/** How long systemd waits, by the controller's unit. */
const pauseMs = 1_000;

/**
 * A process as its unit keeps it: one that ends by itself, as a controller does that could not renew its
 * lease in time, is started again.
 */
export class KeptProcess {
  readonly #start: () => ServiceProcess;
  #process: ServiceProcess;
  #isWanted = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(start: () => ServiceProcess) {
    this.#start = start;
    this.#process = this.#keep();
  }

  /** Ends it properly, for good. */
  async stop(): Promise<void> {
    this.#giveUp();
    await this.#process.stop();
  }

  /** Ends it without a word, for good. */
  async kill(): Promise<void> {
    this.#giveUp();
    this.#process.kill('SIGKILL');
    await this.#process.exited;
  }

  #giveUp(): void {
    this.#isWanted = false;
    clearTimeout(this.#timer);
  }

  #keep(): ServiceProcess {
    const process = this.#start();
    void process.exited.then(() => {
      if (!this.#isWanted) return;
      this.#timer = setTimeout(() => {
        this.#process = this.#keep();
      }, pauseMs);
    });
    return process;
  }
}
