import path from 'node:path';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { RowStore } from '../overview/row-store.ts';
import { ClusterSource } from '../overview/cluster-source.ts';
import { watchGateways, type Gateway } from '../overview/gateway-source.ts';
import { watchPools, type PoolSourceOptions } from '../overview/pool-source.ts';
import { watchHealth } from '../overview/health-source.ts';
import type { ClusterHealth } from '../../health/service-health.ts';
import { findPath } from '../overview/service-path.ts';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { loadAssets } from './assets.ts';
import { startDashboard } from './server.ts';

export interface DashboardOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** The namespace of the controller's lease and reports. */
  readonly systemNamespace: string;
  readonly gateways: ReadonlyMap<string, Gateway>;
  readonly pools: Pick<PoolSourceOptions, 'client' | 'sites'> | undefined;
  /** Called with the address once the server listens. */
  readonly onListening?: (url: string) => void;
}

const assetsDirectory = path.join(import.meta.dirname, 'pages');

/** Collects the rows and serves them until the signal fires. */
export async function runDashboard(options: DashboardOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, log, metrics, gateways, pools } = options;
  const rowStore = new RowStore();
  const server = await startDashboard({
    ...options,
    rowStore,
    assets: await loadAssets(assetsDirectory),
    findPath: (namespace, name, inner) =>
      findPath({ client, rowStore, gateways }, namespace, name, inner),
  });
  log.info({ url: server.url }, 'the dashboard listens');
  options.onListening?.(server.url);
  const cluster = new ClusterSource({ client, clock, log, metrics, rowStore });
  const assess = (health: ClusterHealth) => cluster.assess(health);
  const loops: Record<string, Loop> = {
    rows: (inner) => rowStore.run(clock, inner),
    cluster: (inner) => cluster.run(inner),
    health: (inner) => watchHealth({ ...options, rowStore, assess }, inner),
  };
  if (gateways.size > 0) {
    loops['gateways'] = (inner) => watchGateways(gateways, rowStore, clock, inner);
  }
  if (pools !== undefined) {
    loops['pools'] = (inner) => watchPools({ ...pools, rowStore, clock, log }, inner);
  }
  try {
    await supervise(signal, loops);
  } finally {
    await server.close();
  }
}
