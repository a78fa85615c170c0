import type { KubeClient } from '@causeway/kubernetes/client/client';
import { Cloud } from '@causeway/openstack/cloud';
import type { RequestCarrier } from '@causeway/openstack/transport';
import type { Random } from '@causeway/base/simulation/random';
import type { Environment } from '@causeway/openstack/config/load';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { BackendConnection } from './cloud-connection.ts';
import { DiscoveredCloud } from './cloud.ts';
import { ClusterTarget } from './cluster-target.ts';
import type { ClusterView } from './cluster-view.ts';
import { localSource, secretSource } from './credential-source.ts';
import { discoveryMetrics } from './discovery-metrics.ts';
import { DryRunTarget } from './dry-run-target.ts';
import type { RecordEvent } from './problem-reporter.ts';
import type { BackendSettings, DiscoverySettings } from './settings.ts';

/** Dependencies of a backend, shared with the others. */
export interface CloudSurroundings {
  readonly client: KubeClient;
  readonly recordEvent: RecordEvent;
  readonly environment: Environment;
  readonly workingDirectory: string;
  /** Transport of requests to the clouds, if it is not HTTP. */
  readonly transport?: RequestCarrier | undefined;
  readonly random?: Random | undefined;
  /** Output of a dry run; if omitted, the changes are made. */
  readonly print?: (text: string) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function makeCloud(
  own: BackendSettings,
  isAlone: boolean,
  settings: DiscoverySettings,
  view: ClusterView,
  parts: CloudSurroundings,
): DiscoveredCloud {
  const { client, recordEvent, environment, workingDirectory, clock, log, metrics, print } = parts;
  const { transport, random } = parts;
  const { name, secret, cloud, projects, ignoreProjects, namespaceTemplate, memberNetworks } = own;
  const source =
    secret === undefined
      ? localSource(environment, workingDirectory, cloud)
      : secretSource(client, name, secret);
  const { serviceType, endpointsKind, createNamespaces, adoptGimbal, maxLossShare, workers } =
    settings;
  const attemptDeadlineMs = settings.requestSeconds * 1000;
  const counted = discoveryMetrics(metrics);
  const target = { backend: name, client, view, createNamespaces, adoptGimbal };
  return new DiscoveredCloud({
    options: {
      backend: name,
      serviceType,
      endpointsKind,
      namespaceTemplate,
      workers,
      isAlone,
      memberNetworks,
      choice: { only: projects, except: ignoreProjects },
      projectMs: settings.projectSeconds * 1000,
      intervalMs: settings.intervalSeconds * 1000,
      maxLossShare,
    },
    source,
    view,
    clock,
    log,
    metrics: counted,
    recordEvent,
    connection: new BackendConnection({
      source,
      clock,
      log,
      open: (config) =>
        new Cloud(config, {
          log,
          metrics,
          clock,
          concurrency: workers,
          attemptDeadlineMs,
          ...(transport === undefined ? {} : { transport }),
          ...(random === undefined ? {} : { random }),
        }),
    }),
    target:
      print === undefined
        ? new ClusterTarget({ ...target, metrics: counted })
        : new DryRunTarget({ ...target, print }),
  });
}
