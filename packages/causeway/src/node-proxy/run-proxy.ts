import os from 'node:os';
import type { Prefix } from '@causeway/base/address/prefix';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { sleep } from '@causeway/base/time/clock';
import { delayedAbort } from '@causeway/base/time/delayed-abort';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { nodes } from '@causeway/kubernetes/objects/resources';
import type { Driver } from '@causeway/nftables/drivers/driver';
import { guardMetric, type GuardReport } from '../services/guard-register.ts';
import { buildProxy, type ProxyParts } from './build-proxy.ts';
import { enforceSettings, wantedConntrack } from './conntrack-settings.ts';
import { followCluster, servedBy } from './follow-cluster.ts';
import { followNode, waitForNode } from './follow-node.ts';
import { HealthCheckPorts } from './health/health-check-ports.ts';
import { startResponder, type ResponderOptions } from './health/http-responder.ts';
import { answerHealth, isEligible, isWorking, type NodeHealth } from './health/node-health.ts';
import { nodeContext } from './node-context.ts';
import type { ProxyPipeline } from './proxy-pipeline.ts';
import { ProxyStore } from './proxy-store.ts';
import { followServiceNetworks } from './service-networks.ts';

const portRetryMs = 5_000;

/** Serves Services on this node until the signal fires. The rules stay. */
export async function runProxy(parts: ProxyParts, signal: AbortSignal): Promise<void> {
  const { settings, client, clock, log, metrics } = parts;
  const { nodeName } = settings;
  const store = new ProxyStore({
    node: nodeContext(settings, undefined, []),
    serves: servedBy(settings),
    exemptNamespaces: settings.egressFirewall.exemptNamespaces,
    reportGuard: (report) => reportGuard(parts, store.nodes.get(nodeName), report),
    clock,
    log,
  });
  await supervise(signal, {
    cluster: (inner) => followCluster({ store, client, nodeName, clock, log, metrics }, inner),
    node: async (inner) => {
      await waitForNode({ store, settings, clock, log }, inner);
      await serve(store, parts, inner);
    },
  });
}

/** Shows that the guard keeps endpoints: an Event about this node, a metric and a log line. */
function reportGuard(
  { recorder, metrics, log }: ProxyParts,
  node: Node | undefined,
  report: GuardReport | undefined,
): void {
  metrics.gauge(guardMetric).set({ guard: 'endpoints' }, report?.held ?? 0);
  const message = report?.message ?? 'The guard for endpoints holds nothing back any more';
  if (report === undefined) log.info({}, message);
  else log.warn({ held: report.held }, message);
  const reason = report === undefined ? 'GuardEnded' : 'EndpointLossHeld';
  if (node !== undefined) recorder.record(nodes, node, { reason, message });
}

async function serve(store: ProxyStore, parts: ProxyParts, signal: AbortSignal): Promise<void> {
  const { settings, driver, clock, log } = parts;
  const { pipeline, progress, loops } = buildProxy(parts, store);
  const patienceMs = 2 * settings.sync.maxSeconds * 1000;
  const node = () => store.nodes.get(settings.nodeName);
  const health = (): NodeHealth => ({
    lastDone: progress.lastDone,
    waitingMs: progress.waitingMs,
    node: node(),
  });
  const checks = new HealthCheckPorts({
    isHealthy: () => isWorking(health(), patienceMs) && isEligible(node()),
    clock,
    log,
  });
  pipeline.onCommit((served) => checks.committed(served));
  const firstCommit = new Promise<void>((resolve) => pipeline.onCommit(() => resolve()));
  await supervise(
    delayedAbort(signal, () => pipeline.parkAccepted()),
    {
      ...loops,
      'the node itself': (inner) => followNode({ store, settings, clock, log }, inner),
      'health checks': (inner) => checks.run(inner),
      ...(settings.services === 'all' ? serviceNetworks(store, parts) : {}),
      'foreign changes': (inner) => repair(pipeline, driver, log, firstCommit, inner),
      'kernel settings': (inner) => setKernel(parts, firstCommit, inner),
      health: (inner) =>
        answerOn(parts, inner, {
          ...hostAndPort(settings.health),
          answer: (path) => answerHealth(path, health(), patienceMs, clock.wallTime()),
        }),
      metrics: (inner) =>
        answerOn(parts, inner, {
          ...hostAndPort(settings.metrics),
          answer: (path) => answerMetrics(path, parts),
        }),
    },
  );
}

/** Only in place of kube-proxy: beside it, kube-proxy drops packets to unallocated addresses. */
function serviceNetworks(store: ProxyStore, parts: ProxyParts): Readonly<Record<string, Loop>> {
  const { client, clock, log, metrics } = parts;
  const onChange = (networks: readonly Prefix[]) => {
    store.serviceNetworks = networks;
  };
  return {
    'service networks': (signal) =>
      followServiceNetworks({ client, clock, log, metrics, onChange }, signal),
  };
}

async function repair(
  pipeline: ProxyPipeline,
  driver: Driver,
  log: Log,
  firstCommit: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([firstCommit, whenAborted(signal)]);
  if (signal.aborted) return;
  // If the kernel protects the table from other programs, there are no foreign changes.
  if (driver.isOwned) {
    await whenAborted(signal);
    return;
  }
  for await (const { what } of driver.watch(signal)) {
    log.warn({ table: driver.table, what }, 'another program changed the rules; repairing them');
    pipeline.doubt();
  }
}

/** Runs after the first transaction: it loads conntrack on a node without other users of it. */
async function setKernel(
  { settings, kernelSettings, log }: ProxyParts,
  firstCommit: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([firstCommit, whenAborted(signal)]);
  if (signal.aborted) return;
  const wanted = wantedConntrack(settings.conntrack, os.availableParallelism());
  for (const problem of await enforceSettings(kernelSettings, wanted)) {
    log.warn({ problem }, 'a kernel setting could not be set');
  }
  await whenAborted(signal);
}

/**
 * Answers on a port until the signal fires. If the port is taken, retries, or fails if `needPorts` is set.
 */
async function answerOn(
  { settings, clock, log }: ProxyParts,
  signal: AbortSignal,
  options: ResponderOptions,
): Promise<void> {
  let isLogged = false;
  while (!signal.aborted) {
    try {
      const responder = await startResponder(options);
      await whenAborted(signal);
      await responder.close();
      return;
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (settings.needPorts) throw error;
      if (!isLogged) log.error({ error }, 'continuing without this port; retrying every 5 s');
      isLogged = true;
      await sleep(clock, portRetryMs, signal);
    }
  }
}

async function answerMetrics(path: string, { metricsPage }: ProxyParts) {
  const text = { 'content-type': 'text/plain; charset=utf-8' };
  switch (path) {
    case '/metrics': {
      const { type, body } = await metricsPage();
      return { status: 200, headers: { 'content-type': type }, body };
    }
    case '/proxyMode':
      return { status: 200, headers: text, body: 'nftables' };
    case '/healthz':
      return { status: 200, headers: text, body: 'ok' };
    default:
      return { status: 404, headers: text, body: 'not found: try /metrics or /proxyMode\n' };
  }
}

function hostAndPort({ address, port }: { address: string; port: number }) {
  return { host: address, port };
}
