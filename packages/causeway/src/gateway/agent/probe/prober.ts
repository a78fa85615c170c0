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
  /** Called when a probe, or what there is to probe, has changed who is silent or whether we are cut off. */
  onChange(unhealthy: ReadonlySet<Address>): void;
}

/** Probes never come in one burst: so many slices in an interval, and in a longer round more of them. */
const slicesPerInterval = 20;
/** More would leave an agent with tens of thousands of targets no time for anything else. */
const mostPerSecond = 2_000;

/**
 * Knocks at every target once in each round, which is an interval long, or longer where there are too many
 * targets for that. An unanswered knock ends after an interval, so a target that falls silent is judged
 * after at most one interval more than the threshold has rounds.
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
    // Who is not sent to any more is not silent either: should it come back, it begins anew.
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
