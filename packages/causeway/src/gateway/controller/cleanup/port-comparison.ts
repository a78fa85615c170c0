import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { ProviderHost } from '../../../services/provider.ts';
import { recordOf } from '../../../services/record.ts';
import type { Fencing } from '../fencing/fencing.ts';
import type { GatewayOrphans } from './gateway-orphans.ts';
import type { PortKeeper } from '../ports/port-keeper.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';

export interface PortComparisonOptions {
  readonly keeper: PortKeeper;
  readonly orphans: GatewayOrphans;
  readonly fencing: Pick<Fencing, 'check'>;
  readonly reasons: ReasonSink;
  readonly clock: Clock;
  readonly log: Log;
  /** The longest interval. */
  readonly driftEveryMs: number;
  /** The shortest interval, used if a comparison is quick. */
  readonly resyncEveryMs: number;
}

/**
 * Compares the known ports, orphans and fences with the cloud at intervals, because the cloud sends no
 * notification of a change. Recreates what was lost.
 */
export class PortComparison {
  readonly #options: PortComparisonOptions;

  constructor(options: PortComparisonOptions) {
    this.#options = options;
  }

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { clock, log, driftEveryMs, resyncEveryMs } = this.#options;
    let tookMs = 0;
    while (!signal.aborted) {
      await sleep(clock, pauseAfterResync(tookMs, resyncEveryMs, driftEveryMs), signal);
      const started = clock.monotonic();
      try {
        await this.#compare(host, signal);
      } catch (error) {
        const known = CausewayError.from(error);
        if (signal.aborted) throw known;
        log.warn({ error: known }, 'could not check for drift');
      }
      tookMs = clock.monotonic() - started;
    }
  }

  async #compare(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { keeper, orphans, fencing, reasons, log } = this.#options;
    const isOnHold = (uid: string) => isHeld(host, uid);
    const lost = new Set(await keeper.findDrift(advertised(host), signal, isOnHold));
    if (lost.size > 0) log.warn({ services: lost.size }, 'recreated lost ports or floating IPs');
    await orphans.check(signal);
    reasons.add({ kind: 'ports-compared' });
    await fencing.check(signal);
  }
}

/**
 * The pause after a comparison of this duration. The cloud sends no notification of a loss, so comparisons run
 * as often as is cheap: at most a twentieth of the time, between the two limits.
 */
export function pauseAfterResync(tookMs: number, soonestMs: number, latestMs: number): number {
  return Math.min(latestMs, Math.max(soonestMs, tookMs * 19));
}

/** Whether the Service is on hold because its record is unreadable. */
function isHeld(host: ProviderHost, uid: string): boolean {
  for (const spec of host.objects.values()) {
    if (spec.owner.uid === uid) return recordOf(spec).kind === 'unreadable';
  }
  return false;
}

/** All addresses in the status of any Service. */
function advertised(host: ProviderHost): Set<Address> {
  const addresses = new Set<Address>();
  for (const { published } of host.objects.values()) {
    for (const text of published) {
      const address = tryParseAddress(text);
      if (address !== undefined) addresses.add(address);
    }
  }
  return addresses;
}
