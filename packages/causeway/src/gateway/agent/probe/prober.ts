import type { Address } from '@causeway/base/address/address';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { ProbeResults } from './probe-results.ts';
import type { ProbeTarget, ProbeTargets } from './targets.ts';

export interface ProberOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly ledger: ProbeResults;
  targets(): ProbeTargets;
  probeTcp(target: ProbeTarget, limitMs: number, signal: AbortSignal): Promise<boolean>;
  /** Called when a probe or a change of targets has changed the unhealthy backends or the cut-off state. */
  onChange(unhealthy: ReadonlySet<Address>): void;
}

/**
 * Number of slices in an interval. A longer round has more of them, so that probes never come in one burst.
 */
const slicesPerInterval = 20;
/** A higher rate would leave an agent with tens of thousands of targets no time for other work. */
const mostPerSecond = 2_000;

/**
 * Probes every target once per round. A round takes one interval, or longer if there are too many targets. An
 * unanswered probe ends after one interval, so a failing target is unhealthy at most one interval after as
 * many rounds as the threshold.
 */
export async function runProber(options: ProberOptions, signal: AbortSignal): Promise<void> {
  const { clock, intervalMs, ledger } = options;
  const pending = new Set<Promise<void>>();
  const probe = async (target: ProbeTarget) => {
    const answered = await options.probeTcp(target, intervalMs, signal);
    if (!signal.aborted && ledger.record(target.address, answered))
      options.onChange(ledger.unhealthy);
  };
  while (!signal.aborted) {
    const targets = options.targets();
    // A removed target is not unhealthy any more. It starts anew when it returns.
    if (ledger.beginRound(targets)) options.onChange(ledger.unhealthy);
    const roundMs = Math.max(intervalMs, (targets.size / mostPerSecond) * 1000);
    const slices = Math.ceil((slicesPerInterval * roundMs) / intervalMs);
    const slice = Math.ceil(targets.size / slices);
    const rest = targets.entries();
    const started = clock.monotonic();
    for (let index = 0; index < slices; index += 1) {
      for (const [address, port] of rest.take(slice)) {
        const running: Promise<void> = probe({ address, port }).finally(() =>
          pending.delete(running),
        );
        pending.add(running);
      }
      const due = started + ((index + 1) * roundMs) / slices;
      const wait = sleep(clock, Math.max(0, due - clock.monotonic()), signal);
      await wait.catch(() => undefined);
      if (signal.aborted) break;
    }
  }
  await Promise.all(pending);
}
