import type { Driver } from '@causeway/nftables/drivers/driver';
import type { SettingsFiles } from '@causeway/netlink/kernel-settings';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Clock } from '@causeway/base/time/clock';
import type { Loop } from '@causeway/base/work/supervisor';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { services } from '@causeway/kubernetes/objects/resources';
import { ActivityWatch, type LiveConnections } from './activity/activity-watch.ts';
import type { LostTarget } from './owned-addresses.ts';
import { EgressFollower } from './egress-firewall/follow-egress.ts';
import { resolveName } from './egress-firewall/resolve-name.ts';
import { IdleServices } from './holder/idle-services.ts';
import { layoutSettings, matchesInterface } from './node-context.ts';
import { ProxyPipeline } from './proxy-pipeline.ts';
import { ProxyProgress } from './proxy-progress.ts';
import type { ProxyStore } from './proxy-store.ts';
import type { FindingReports } from './service-findings.ts';
import type { ProxySettings } from './settings.ts';
import type { ConnectionTable } from './stale-connections.ts';

/** Dependencies of a proxy. */
export interface ProxyParts {
  readonly settings: ProxySettings;
  readonly client: KubeClient;
  readonly driver: Driver;
  readonly connections: ConnectionTable & LiveConnections;
  readonly recorder: EventRecorder;
  readonly kernelSettings: SettingsFiles;
  readonly metricsPage: () => Promise<{ readonly type: string; readonly body: string }>;
  /** Whether the kernel can protect the listeners of accepted Services from other connections. */
  readonly canAccept: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Surroundings = Omit<ProxyParts, 'kernelSettings' | 'metricsPage'>;

export interface BuiltProxy {
  readonly pipeline: ProxyPipeline;
  readonly progress: ProxyProgress;
  /** The loops of the pipeline, of its inputs, and of the consumers of its transactions. */
  readonly loops: Readonly<Record<string, Loop>>;
}

/** The pipeline over a store, with the followers that write to the store. The Node must be known. */
export function buildProxy(parts: Surroundings, store: ProxyStore): BuiltProxy {
  const { settings, driver, connections, clock, log, metrics } = parts;
  const { sync, nodeName } = settings;
  const egress = settings.egressFirewall.enabled ? egressFollower(parts, store) : undefined;
  const idle = settings.idling.enabled ? idleServices(parts) : undefined;
  const progress = new ProxyProgress(clock, metrics);
  const pipeline = new ProxyPipeline({
    store,
    driver,
    connections,
    progress,
    clock,
    log,
    metrics,
    layout: layoutSettings(settings, store.nodes.get(nodeName)),
    pace: { minIntervalMs: sync.minSeconds * 1000, maxIntervalMs: sync.maxSeconds * 1000 },
    idling: idle?.stage,
    ready: egress?.known,
    ...findingReports(parts),
  });
  const loops: Record<string, Loop> = { rules: (signal) => pipeline.run(signal) };
  if (egress !== undefined) loops['egress firewall'] = (signal) => egress.run(signal);
  if (idle !== undefined) {
    const activity = activityWatch(parts, store);
    pipeline.onCommit((served) => idle.onCommit(served));
    pipeline.onCommit((served) => activity.onCommit(served));
    loops['idle Services'] = (signal) => idle.run(signal);
    loops['activity of Services'] = (signal) => activity.run(signal);
  }
  return { pipeline, progress, loops };
}

function egressFollower(parts: Surroundings, store: ProxyStore): EgressFollower {
  const { settings, client, clock, log, metrics } = parts;
  const { clusterNetworks } = settings.egressFirewall;
  return new EgressFollower({
    store,
    client,
    clock,
    log,
    metrics,
    clusterNetworks: clusterNetworks.length > 0 ? clusterNetworks : settings.insiders.networks,
    resolve: resolveName,
  });
}

function idleServices({ settings, ...parts }: Surroundings): IdleServices {
  const { client, canAccept, clock, log, metrics } = parts;
  return new IdleServices({
    client,
    canAccept,
    clock,
    log,
    metrics,
    settings: settings.idling,
    node: settings.nodeName,
    matchesInterface: matchesInterface(settings),
    settingsDirectory: settings.settingsDirectory,
  });
}

function activityWatch(parts: Surroundings, store: ProxyStore): ActivityWatch {
  const { settings, driver, connections, client, clock, log } = parts;
  return new ActivityWatch({
    store,
    driver,
    connections,
    client,
    clock,
    log,
    node: settings.nodeName,
    namespace: settings.idling.reportNamespace,
    everyMs: settings.idling.reportSeconds * 1000,
  });
}

function findingReports({ recorder }: Surroundings): FindingReports {
  return {
    reportLost: (service, lost) =>
      recorder.record(services, service, {
        reason: 'AddressTaken',
        message: describeLost(lost),
      }),
    reportExcess: (service, { reason, message }) =>
      recorder.record(services, service, { reason, message }),
    reportHidden: (service, message) =>
      recorder.record(services, service, { reason: 'EgressDenied', message }),
  };
}

function describeLost(lost: readonly LostTarget[]): string {
  const each = lost.map(({ target, owner }) => {
    const { address, protocol, port } = target.virtual;
    return `${address} (${protocol}/${port}) belongs to ${owner}`;
  });
  return `${each.join('; ')}. An address, protocol and port belongs to one Service: the older one. Addresses that the cluster assigned take precedence over load balancer addresses and external ones.`;
}
