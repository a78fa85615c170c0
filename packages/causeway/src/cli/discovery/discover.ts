import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { Command } from 'commander';
import { Discoverer, type OnceResult } from '../../discovery/discoverer.ts';
import { discoverySettings, leaseName, type DiscoverySettings } from '../../discovery/settings.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { PinnedCluster } from '@causeway/kubernetes/client/pinned-cluster';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { runAsLeader } from '@causeway/kubernetes/lease/leader-election';
import { watchProcess } from '@causeway/base/observability/event-loop-delay';
import { createLog } from '@causeway/base/observability/logger';
import { startObservabilityServer } from '@causeway/base/observability/observability-server';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import type { Metrics } from '@causeway/base/observability/metrics';
import { Readiness } from '@causeway/base/observability/readiness';
import { ScopedMetrics } from '@causeway/base/observability/scoped-metrics';
import { systemClock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import { keepHeapSmall } from '@causeway/base/process/thrifty-heap';
import { addConfigOptions, readConfig } from '../config/options.ts';
import { discoverPurgeCommand } from './purge.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { eventType } from '../event-definitions.ts';

interface Mode {
  readonly once: boolean;
  readonly dryRun: boolean;
  readonly confirm: boolean;
}

/** `causeway discover`: OpenStack's load balancers as Services. */
export function discoverCommand(): Command {
  const command = new Command('discover').description(
    'keep a Service with endpoints for every load balancer of an OpenStack cloud',
  );
  addConfigOptions(command, discoverySettings);
  command
    .option('--no-create-namespaces', 'skip projects without a namespace')
    .option('--once', 'run one cycle and exit', false)
    .option('--dry-run', 'print the changes of one cycle without making them', false)
    .option('--confirm', 'accept all deletions of the first cycle', false);
  // Options after `purge` belong to it: some have the same names as this command's.
  command.enablePositionalOptions().addCommand(discoverPurgeCommand());
  return command.action(async () => {
    const settings = await readConfig(command, discoverySettings);
    await discover(settings, command.opts<Mode>(), stopSignal());
  });
}

async function discover(
  settings: DiscoverySettings,
  mode: Mode,
  signal: AbortSignal,
): Promise<void> {
  keepHeapSmall();
  const clock = systemClock;
  const isOnce = mode.once || mode.dryRun;
  // The result goes to standard output; with --once, the log goes to standard error.
  const destination = isOnce ? process.stderr : process.stdout;
  const log = createLog({ ...settings.log, destination });
  const metrics = new PrometheusMetrics();
  const { kubeconfig, context } = settings;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const transport = new HttpTransport(connection, clock);
  const cluster = new PinnedCluster({ log, metrics });
  const client = new KubeClient({ transport, clock, metrics, cluster });
  const instance = `${os.hostname()}-${randomUUID().slice(0, 8)}`;
  const parts = { client, clock, log, metrics, instance };
  try {
    if (isOnce) await runOnce(settings, mode, parts, signal);
    else await runAlways(settings, mode, parts, signal);
  } finally {
    await client.close();
  }
}

interface Parts {
  readonly client: KubeClient;
  readonly clock: typeof systemClock;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
  readonly instance: string;
}

function discovererFor(
  settings: DiscoverySettings,
  recorder: EventRecorder,
  parts: Omit<Parts, 'metrics'> & { readonly metrics: Metrics },
  print?: (text: string) => void,
): Discoverer {
  return new Discoverer(settings, {
    ...parts,
    recordEvent: (about, content) => recorder.recordAbout(about, content),
    environment: process.env,
    workingDirectory: process.cwd(),
    ...(print === undefined ? {} : { print }),
  });
}

async function runAlways(
  settings: DiscoverySettings,
  { confirm }: Mode,
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, log, metrics, instance } = parts;
  const readiness = new Readiness();
  const { address: host, port } = settings.observe;
  const observe = await startObservabilityServer({ host, port, metrics, readiness });
  log.info({ health: observe.url, instance }, 'starting');
  const lead = async (leading: KubeClient, inner: AbortSignal) => {
    const scoped = new ScopedMetrics(metrics);
    const own = { ...parts, client: leading, metrics: scoped };
    const recorder = new EventRecorder({ ...own, component: 'causeway-discovery', eventType });
    const discoverer = discovererFor(settings, recorder, own);
    const checks = readiness.scope();
    for (const [name, check] of Object.entries(discoverer.checks())) checks.add(name, check);
    try {
      await supervise(inner, {
        events: (deepest) => recorder.run(deepest),
        discovery: (deepest) => discoverer.run(confirm, deepest),
      });
    } finally {
      checks.clear();
      scoped.clear();
    }
  };
  const { enabled, namespace } = settings.leaderElection;
  const lease = { namespace, name: leaseName(settings) };
  try {
    await supervise(signal, {
      'process metrics': (inner) => watchProcess(clock, metrics, inner),
      discovery: (inner) =>
        enabled
          ? runAsLeader(
              {
                ...parts,
                lease,
                identity: instance,
                addCheck: (name, check) => readiness.add(name, check),
              },
              (leadership, deepest) => lead(client.withLeaseGuard(leadership), deepest),
              inner,
            )
          : lead(client, inner),
    });
  } finally {
    await observe.close();
  }
}

/** With --once, Events that are not recorded by then are lost. */
const onceFlushMs = 60_000;

async function runOnce(
  settings: DiscoverySettings,
  { dryRun, confirm }: Mode,
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const recorder = new EventRecorder({ ...parts, component: 'causeway-discovery', eventType });
  const print = dryRun ? (text: string) => void process.stdout.write(text) : undefined;
  const discoverer = discovererFor(settings, recorder, parts, print);
  const ended = new AbortController();
  const recording = dryRun ? undefined : recorder.run(ended.signal);
  let results: readonly OnceResult[];
  try {
    results = await discoverer.once(confirm, signal);
  } finally {
    ended.abort();
    await recording;
  }
  if (!dryRun && !signal.aborted) await recorder.run(AbortSignal.abort(), onceFlushMs);
  for (const { backend, report } of results) {
    if (report === undefined) continue;
    const { projects, failed, loadBalancers, written, removed, held } = report;
    const done = dryRun ? ['would be written', 'would be deleted'] : ['written', 'deleted'];
    process.stdout.write(
      `${backend}: ${loadBalancers} load balancers in ${projects} projects (${failed} failed); ${written} objects ${done[0]}, ${removed} ${done[1]}, ${held} load balancers held\n`,
    );
  }
  throwWhatFailed(results, dryRun);
}

/** Reports all failures; the first one determines the exit code. */
function throwWhatFailed(results: readonly OnceResult[], dryRun: boolean): void {
  const failures = results.flatMap((result) => failureOf(result, dryRun) ?? []);
  // Backends that could not be read take precedence over skipped parts.
  const first = failures.find(({ cause }) => cause !== undefined) ?? failures[0];
  if (first === undefined) return;
  const message = failures.map((failure) => failure.message).join('\n');
  const hint = first.hint === undefined ? {} : { hint: first.hint };
  throw new CausewayError(first.code, message, { cause: first.cause, ...hint });
}

function failureOf(
  { backend, error, report }: OnceResult,
  dryRun: boolean,
): CausewayError | undefined {
  if (error !== undefined) {
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    return new CausewayError(error.code, `backend ${backend}: ${error.message}`, {
      cause: error,
      ...hint,
    });
  }
  if (report === undefined) return undefined;
  const notDone = (what: string, hint: string) =>
    new CausewayError('conflict', `backend ${backend}: ${what}`, { hint });
  const { failed, failures, skipped, refused, held } = report;
  if (!report.isComplete) {
    const what = `${failed} projects and ${failures} writes failed; nothing of them was deleted`;
    return notDone(what, 'The log has the reasons; run the command again.');
  }
  if (skipped + refused > 0) {
    const what = `${skipped} projects and ${refused} load balancers were left out`;
    return notDone(what, 'Their Events have the reasons; a dry run shows them too.');
  }
  if (dryRun || held === 0) return undefined;
  const what = `${held} load balancers seem to be gone, or to have lost ports or most members, and are kept`;
  return notDone(what, 'Check the cloud; if it is correct, run the command again with --confirm.');
}
