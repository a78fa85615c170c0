import { familyOf, type Address } from '@causeway/base/address/address';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { Alarms } from '../../alarms.ts';
import type { Adverts } from './adverts.ts';

export const forgedAdvertsMetric = {
  kind: 'counter',
  name: 'causeway_agent_forged_adverts_total',
  help: 'VRRP adverts that were dropped because they did not come from a peer on the same link.',
  labels: [],
} as const satisfies MetricDefinition;

export interface ForgedAdvertsOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly alarms: Pick<Alarms, 'set'>;
  readonly adverts: Pick<Adverts, 'countForged' | 'forgedSources' | 'unheardPeers'>;
  readonly peers: readonly Address[];
}

const everyMs = 1_000;
/** Time that the alarm lasts after the last forged advert. */
const alarmMs = 300_000;
/** Shortest interval between two reads of the sources: the set can be large. */
const sourcesEveryMs = 5_000;
const mostSources = 5;

/** Raises an alarm while forged VRRP adverts arrive. The rules drop them. */
export async function watchForForgedAdverts(
  options: ForgedAdvertsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, alarms, adverts, peers } = options;
  const total = options.metrics.counter(forgedAdvertsMetric);
  let last: bigint | undefined;
  let droppedAt = Number.NEGATIVE_INFINITY;
  let sourcesAt = Number.NEGATIVE_INFINITY;
  let sources: readonly Address[] = [];
  let unheard: readonly Address[] = [];
  while (!signal.aborted) {
    const count = await adverts.countForged(signal).catch(() => undefined);
    const now = clock.monotonic();
    if (count !== undefined && last !== undefined && count !== last) {
      // A recreated table counts from zero.
      total.add({}, Number(count > last ? count - last : count));
      droppedAt = now;
      if (now - sourcesAt >= sourcesEveryMs) {
        sourcesAt = now;
        sources = await adverts.forgedSources(signal).catch(() => sources);
        unheard = await adverts.unheardPeers(signal).catch(() => unheard);
      }
    }
    last = count ?? last;
    const isRecent = now - droppedAt < alarmMs;
    const message = isRecent ? describeForgery(sources, peers, unheard) : undefined;
    alarms.set('forged-adverts', message);
    await sleep(clock, everyMs, signal);
  }
}

/** Describes the forged adverts so that an operator can find the sender. */
export function describeForgery(
  sources: readonly Address[],
  peers: readonly Address[],
  unheard: readonly Address[],
): string {
  const named = sources.slice(0, mostSources).map((source) => {
    const isPeer = peers.includes(source);
    return isPeer
      ? `${source} (a peer's address: the advert came through a router or on another interface)`
      : `${source} (no peer of this gateway)`;
  });
  const more = sources.length - named.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  const from = named.length === 0 ? 'an unknown source' : `${named.join(', ')}${rest}`;
  const dropped = `VRRP adverts that no peer sent were dropped; their source is ${from}`;
  return `${dropped}${describeUnheard(sources, peers, unheard)}`;
}

/** A gateway whose address is mistyped among the peers looks like a stranger, and its peer stays unheard. */
function describeUnheard(
  sources: readonly Address[],
  peers: readonly Address[],
  unheard: readonly Address[],
): string {
  const strangers = sources.filter((source) => !peers.includes(source));
  const families = new Set(strangers.map(familyOf));
  const named = [...new Set(unheard)].filter((peer) => families.has(familyOf(peer)));
  if (named.length === 0) return '';
  return `. Nothing was heard from the peer ${named.join(', ')}: if the adverts come from a gateway of this set, correct its address in peers4 or peers6`;
}
