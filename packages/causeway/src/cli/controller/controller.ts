import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { UnidlingController } from '../../idling/unidling-controller.ts';
import { PinnedCluster } from '@causeway/kubernetes/client/pinned-cluster';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { runAsLeader } from '@causeway/kubernetes/lease/leader-election';
import { configMaps, services } from '@causeway/kubernetes/objects/resources';
import { requireUsable } from './settings-check.ts';
import { GuardRegister } from '../../services/guard-register.ts';
import { ServiceController } from '../../services/service-controller.ts';
import { watchProcess } from '@causeway/base/observability/event-loop-delay';
import { createLog } from '@causeway/base/observability/logger';
import { startObservabilityServer } from '@causeway/base/observability/observability-server';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { Readiness, type ReadinessScope } from '@causeway/base/observability/readiness';
import { ScopedMetrics } from '@causeway/base/observability/scoped-metrics';
import { systemClock } from '@causeway/base/time/clock';
import { collectWhenIdle } from '@causeway/base/process/collect-when-idle';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { addConfigOptions, readConfig } from '../config/options.ts';
import { serveDashboard } from './dashboard.ts';
import { makeProviders, type ProviderSurroundings } from './providers.ts';
import { controllerCommandSettings, type ControllerCommandSettings } from './load-settings.ts';
import { ownership } from './ownership.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { eventType } from '../event-definitions.ts';

/** `causeway controller`: serves Services of type LoadBalancer. */
export function controllerCommand(): Command {
  const command = new Command('controller').description(
    'serve Services of type LoadBalancer with the configured providers',
  );
  addConfigOptions(command, controllerCommandSettings);
  return command.action(async () => {
    await runController(await readConfig(command, controllerCommandSettings), stopSignal());
  });
}

async function runController(
  settings: ControllerCommandSettings,
  signal: AbortSignal,
): Promise<void> {
  requireUsable(settings);
  const clock = systemClock;
  const log = createLog({ ...settings.log, destination: process.stdout });
  const metrics = new PrometheusMetrics();
  const readiness = new Readiness();
  const { kubeconfig, context } = settings;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const cluster = new PinnedCluster({ log, metrics });
  const transport = new HttpTransport(connection, clock);
  const client = new KubeClient({ transport, clock, metrics, cluster });
  readiness.addDegradation('cluster check', () => cluster.problem);
  const identity = `${os.hostname()}-${randomUUID().slice(0, 8)}`;
  const observe = await startObservabilityServer({
    host: settings.observe.address,
    port: settings.observe.port,
    metrics,
    readiness,
  });
  log.info({ cluster: connection.server, health: observe.url, identity }, 'starting');
  const shared = { client, log, metrics, clock };
  const lead = (leading: Partial<ProviderSurroundings>, inner: AbortSignal) =>
    serveOneTerm(settings, { ...shared, ...leading }, readiness, identity, inner);
  try {
    await supervise(signal, {
      'process metrics': (inner) => watchProcess(clock, metrics, inner),
      'free memory': (inner) => collectWhenIdle(clock, inner),
      ...(settings.dashboard.enabled
        ? { dashboard: (inner: AbortSignal) => serveDashboard(settings, shared, readiness, inner) }
        : {}),
      controller: (inner) =>
        settings.leaderElection.enabled
          ? runAsLeader(
              {
                ...shared,
                lease: settings.leaderElection,
                identity,
                addCheck: (name, check) => readiness.add(name, check),
              },
              (leadership, deepest) =>
                lead(
                  { client: client.withLeaseGuard(leadership), leaseGuard: leadership },
                  deepest,
                ),
              inner,
            )
          : lead({}, inner),
    });
  } finally {
    await observe.close();
    await client.close();
  }
}

/** Everything is new for each term as leader, and its checks and gauges end with the term. */
async function serveOneTerm(
  settings: ControllerCommandSettings,
  shared: ProviderSurroundings,
  readiness: Readiness,
  instance: string,
  signal: AbortSignal,
): Promise<void> {
  const checks = readiness.scope();
  const metrics = new ScopedMetrics(shared.metrics);
  try {
    await serve(settings, { ...shared, metrics }, checks, instance, signal);
  } finally {
    checks.clear();
    metrics.clear();
  }
}

async function serve(
  settings: ControllerCommandSettings,
  shared: ProviderSurroundings,
  readiness: ReadinessScope,
  instance: string,
  signal: AbortSignal,
): Promise<void> {
  const recorder = new EventRecorder({
    ...shared,
    component: 'causeway-controller',
    instance,
    eventType,
  });
  const { namespace } = settings.leaderElection;
  const guards = new GuardRegister({
    ...shared,
    namespace,
    record: (about, content) => recorder.record(configMaps, about, content),
  });
  const loops: Record<string, Loop> = { events: (inner) => recorder.run(inner) };
  const ownershipOf = ownership(settings, shared, readiness, recorder);
  const all = await makeProviders(settings, { ...shared, guards }, ownershipOf, signal);
  if (all.length > 0) {
    const controller = new ServiceController({
      ...shared,
      providers: { all, defaultName: settings.defaultProvider },
      recordEvent: (service, reason, message) =>
        recorder.record(services, service, { reason, message }),
      workers: settings.workers,
    });
    readiness.add('services', () => controller.readiness());
    loops['services'] = (inner) => controller.run(inner);
    loops['guards'] = (inner) => guards.run(inner);
  }
  if (settings.idling.enabled) {
    const unidling = new UnidlingController({
      ...shared,
      settings: settings.idling,
      recordEvent: (service, content) => recorder.record(services, service, content),
      workers: settings.workers,
    });
    readiness.add('unidling', () => unidling.readiness());
    loops['unidling'] = (inner) => unidling.run(inner);
  }
  if (Object.keys(loops).length === 1) {
    throw new CausewayError('invalid', 'neither a provider nor idling is enabled', {
      hint: 'Enable one in the settings, such as gateway.enabled or idling.enabled.',
    });
  }
  await supervise(signal, loops, shared.log);
}
