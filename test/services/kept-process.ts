import type { ServiceProcess } from './service-process.ts';

/** Restart delay in the controller's unit. */
const pauseMs = 1_000;

/** A process under a simulated systemd unit: it is restarted when it ends, for example after a lost lease. */
export class KeptProcess {
  readonly #start: () => ServiceProcess;
  #process: ServiceProcess;
  #isWanted = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(start: () => ServiceProcess) {
    this.#start = start;
    this.#process = this.#keep();
  }

  /** Ends it gracefully and permanently. */
  async stop(): Promise<void> {
    this.#giveUp();
    await this.#process.stop();
  }

  /** Kills it permanently. */
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
