import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { AgentFleet } from '../fleet/agent-fleet.ts';
import type { Fencing } from '../fencing/fencing.ts';
import type { PortKeeper } from '../ports/port-keeper.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';

export interface PortCleanerOptions {
  readonly keeper: PortKeeper;
  readonly fleet: Pick<AgentFleet, 'check' | 'mayAnnounce'>;
  readonly fencing: Pick<Fencing, 'mayGo' | 'letGo'>;
  readonly reasons: ReasonSink;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes ports that no Service uses, after every gateway has confirmed a state without them or is fenced. */
export class PortCleaner {
  readonly #options: PortCleanerOptions;
  readonly #runner: BoundedFrequencyRunner;

  constructor(options: PortCleanerOptions) {
    const { clock, log } = options;
    this.#options = options;
    this.#runner = new BoundedFrequencyRunner({
      name: 'clean unused ports',
      run: (signal) => this.#clean(signal),
      minIntervalMs: 100,
      burst: 2,
      maxIntervalMs: 60_000,
      retryMs: 5_000,
      clock,
      log,
    });
  }

  /** Requests a run after a change that can make a port unused, or an address free. */
  request(): void {
    this.#runner.request();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#runner.loop(signal);
  }

  async #clean(signal: AbortSignal): Promise<void> {
    const { keeper, fencing, fleet, reasons, log } = this.#options;
    const unused = keeper.unused();
    const held = keeper.held().filter((port) => !keeper.isOffered(port));
    // An earlier leader with outdated knowledge may have replaced the state that a gateway confirmed.
    if (unused.length + held.length > 0) await fleet.check(signal);
    for (const port of held) if (fencing.mayGo(port.address)) keeper.offer(port);
    for (const port of unused) {
      if (!fencing.mayGo(port.address)) {
        const announcers = fleet.mayAnnounce(port.address);
        log.debug({ address: port.address, announcers }, 'the address is not free yet');
        continue;
      }
      await fencing.letGo(port.address, signal);
      await keeper.retire(port, signal);
      reasons.add({ kind: 'address-freed' });
      log.info({ address: port.address, port: port.id }, 'deleted an unused port');
    }
  }
}
