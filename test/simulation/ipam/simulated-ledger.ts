import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import type {
  Batch,
  Committed,
  Entry,
  Ledger,
  Scan,
  Snapshot,
  Transaction,
} from '../../../packages/causeway/src/ipam/ledger.ts';
import type {
  SimulatedProcess,
  Simulation,
} from '../../../packages/base/src/simulation/simulation.ts';
import { untilAborted } from '../../../packages/base/src/time/until-aborted.ts';

/** Probability that the answer to an applied transaction is lost. */
const lossChance = 0.05;

/** One server's connection to the shared ledger: every call takes a while, and answers get lost. */
export class SimulatedLedger implements Ledger {
  readonly #shared: Ledger;
  readonly #process: SimulatedProcess;
  readonly #simulation: Simulation;

  constructor(shared: Ledger, process: SimulatedProcess, simulation: Simulation) {
    this.#shared = shared;
    this.#process = process;
    this.#simulation = simulation;
  }

  load(prefix: string, signal: AbortSignal): Promise<Snapshot> {
    return this.#call('load', signal, () => this.#shared.load(prefix, signal));
  }

  scan(range: Scan, signal: AbortSignal): Promise<readonly Entry[]> {
    return this.#call('scan', signal, () => this.#shared.scan(range, signal));
  }

  commit(transaction: Transaction, signal: AbortSignal): Promise<Committed> {
    return this.#call('commit', signal, async () => {
      const committed = await this.#shared.commit(transaction, signal);
      if (this.#simulation.random() < lossChance) {
        throw new CausewayError('unavailable', 'the answer was lost');
      }
      return committed;
    });
  }

  barrier(signal: AbortSignal): Promise<number> {
    return this.#call('barrier', signal, () => this.#shared.barrier(signal));
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<Batch> {
    for await (const batch of this.#shared.watch(prefix, after, signal)) {
      await this.#call(`batch ${batch.revision}`, signal, () => undefined);
      yield batch;
    }
  }

  identity(signal: AbortSignal): Promise<string> {
    return this.#call('identity', signal, () => this.#shared.identity(signal));
  }

  requestProgress(): void {}

  acceptStore(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }

  #call<T>(label: string, signal: AbortSignal, effect: () => T | Promise<T>): Promise<T> {
    return untilAborted(this.#process.call(`ledger ${label}`, effect), signal);
  }
}
