import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { noProblems, type ClusterFacts, type GatewayFacts } from '../../health/facts.ts';
import { clusterHealth, type ClusterHealth } from '../../health/service-health.ts';
import { readClusterFacts } from './cluster-facts.ts';
import { noAnswerFacts } from './gateway-source.ts';
import { ServiceCounts } from './health-metrics.ts';
import type { RowStore } from './row-store.ts';
import type { GatewayRow } from './rows.ts';

export interface HealthSourceOptions {
  readonly client: KubeClient;
  readonly systemNamespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly rowStore: RowStore;
  /** Takes the part of the health that all Services share. */
  readonly assess: (cluster: ClusterHealth) => void;
}

const everyMs = 2_000;

/** Reads the facts that all Services share. While they can't be read, the last ones become older. */
export async function watchHealth(
  options: HealthSourceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, systemNamespace, clock, log, rowStore, assess } = options;
  const counts = new ServiceCounts(options.metrics);
  let last: ClusterFacts = {
    now: clock.wallTime(),
    lease: { kind: 'not-read' },
    reportedAt: undefined,
    gateways: undefined,
    unhealthy: noProblems,
  };
  for (;;) {
    try {
      last = await readClusterFacts(client, systemNamespace, clock, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ error: CausewayError.from(error) }, "the controller's facts can't be read");
    }
    const now = clock.wallTime();
    const gateways = withRows(last.gateways, [...rowStore.rows('gateway')], now);
    assess(clusterHealth({ ...last, now, gateways }));
    counts.show(rowStore.rows('service'));
    await sleep(clock, everyMs, signal);
  }
}

/** The dashboard asks the gateways itself: their own answers are newer than the controller's report. */
export function withRows(
  reported: readonly GatewayFacts[] | undefined,
  rows: readonly GatewayRow[],
  now: number,
): readonly GatewayFacts[] | undefined {
  if (reported === undefined && rows.length === 0) return undefined;
  const known = new Map((reported ?? []).map((each) => [each.name, each]));
  for (const row of rows) {
    const before = known.get(row.key) ?? noAnswerFacts(row.key, row.message, now);
    if (!row.reachable) {
      known.set(row.key, before);
      continue;
    }
    const { role, alarms } = row;
    const answer = { observedAt: now, role, alarms, reachable: true, failure: undefined };
    known.set(row.key, { ...before, ...answer });
  }
  return [...known.values()];
}
