import fs from 'node:fs/promises';
import { Command } from 'commander';
import { PinnedCluster } from '@causeway/kubernetes/client/pinned-cluster';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { settingsIn, type SettingsFiles } from '@causeway/netlink/kernel-settings';
import { guardRule } from '@causeway/nftables/compile/listener-guard';
import { Conntrack } from '@causeway/nftables/conntrack/conntrack';
import { trimMemory } from '@causeway/netlink/trim-memory';
import { supports } from '@causeway/nftables/drivers/supports';
import { watchProcess } from '@causeway/base/observability/event-loop-delay';
import type { Log } from '@causeway/base/observability/log';
import { createLog } from '@causeway/base/observability/logger';
import type { Metrics } from '@causeway/base/observability/metrics';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import type { LiveConnections } from '../../node-proxy/activity/activity-watch.ts';
import type { ProxyParts } from '../../node-proxy/build-proxy.ts';
import { runProxy } from '../../node-proxy/run-proxy.ts';
import { proxySettings, type ProxySettings } from '../../node-proxy/settings.ts';
import type { ConnectionTable } from '../../node-proxy/stale-connections.ts';
import { systemClock } from '@causeway/base/time/clock';
import { collectWhenIdle, ownMemory } from '@causeway/base/process/collect-when-idle';
import { supervise } from '@causeway/base/work/supervisor';
import { addConfigOptions } from '../config/options.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { eventType } from '../event-definitions.ts';
import { openDriver, readProxyConfig } from './proxy-session.ts';

/** `causeway proxy run`: the node proxy in the foreground. */
export function runProxyCommand(): Command {
  const command = new Command('run').description('run the proxy (the default)');
  return addConfigOptions(command, proxySettings).action(async () => {
    const { settings, warnings } = await readProxyConfig(command);
    await run(settings, warnings, stopSignal());
  });
}

async function run(
  settings: ProxySettings,
  warnings: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock;
  const log = createLog({ ...settings.log, destination: process.stdout });
  for (const warning of warnings) log.warn({}, warning);
  await adjustOomScore(settings.oomScoreAdjust);
  const metrics = new PrometheusMetrics();
  const { nodeName } = settings;
  const { client, server } = await connect(settings, log, metrics);
  const driver = await openDriver(settings);
  const connections = await openConnections(settings);
  const canAccept = await supports(driver, guardRule, signal);
  log.info({ cluster: server, node: nodeName, services: settings.services }, 'starting');
  const recorder = new EventRecorder({
    client,
    clock,
    log,
    metrics,
    component: 'causeway-proxy',
    eventType,
    instance: nodeName,
  });
  const parts: ProxyParts = {
    settings,
    client,
    driver,
    connections,
    recorder,
    canAccept,
    metricsPage: async () => ({ type: metrics.contentType, body: await metrics.render() }),
    kernelSettings: kernelSettingsOf(settings),
    clock,
    log,
    metrics,
  };
  try {
    await supervise(signal, {
      'process metrics': (inner) => watchProcess(clock, metrics, inner),
      'free memory': (inner) => collectWhenIdle(clock, inner, ownMemory(trimMemory)),
      events: (inner) => recorder.run(inner),
      proxy: (inner) => runProxy(parts, inner),
    });
  } finally {
    await connections.close();
    await driver.close();
    await client.close();
  }
}

async function connect({ kubeconfig, context }: ProxySettings, log: Log, metrics: Metrics) {
  const clock = systemClock;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const transport = new HttpTransport(connection, clock);
  const cluster = new PinnedCluster({ log, metrics });
  const client = new KubeClient({ transport, clock, metrics, cluster });
  return { client, server: connection.server };
}

function kernelSettingsOf({ nftables, settingsDirectory }: ProxySettings): SettingsFiles {
  return nftables.driver === 'memory' ? noSettings : settingsIn(settingsDirectory);
}

type Connections = ConnectionTable & LiveConnections & { close(): Promise<void> };

async function openConnections({ nftables }: ProxySettings): Promise<Connections> {
  return nftables.driver === 'memory' ? noConnections : Conntrack.open();
}

/** For a driver without packets. */
const noConnections: Connections = {
  deleteConnections: () => Promise.resolve(0),
  deleteStaleEntries: () => Promise.resolve(0),
  connected: () => Promise.resolve(new Set()),
  close: () => Promise.resolve(),
};

const noSettings: SettingsFiles = {
  read: () => Promise.resolve(null),
  write: () => Promise.resolve(),
};

async function adjustOomScore(score: number | undefined): Promise<void> {
  if (score === undefined) return;
  await fs.writeFile('/proc/self/oom_score_adj', String(score)).catch(() => undefined);
}
