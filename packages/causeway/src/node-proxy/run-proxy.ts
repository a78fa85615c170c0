import os from 'node:os';
import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { formatPrefix, type Prefix } from '@causeway/base/address/prefix';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { services } from '@causeway/kubernetes/objects/resources';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import type { Driver } from '@causeway/nftables/drivers/driver';
import type { SettingsFiles } from '@causeway/netlink/kernel-settings';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { delayedAbort } from '@causeway/base/time/delayed-abort';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { LostTarget } from './address-claims.ts';
import { BaseProxy } from './base-proxy.ts';
import { enforceSettings, wantedConntrack } from './conntrack-settings.ts';
import { Cluster } from './follow-cluster.ts';
import { HealthCheckPorts } from './health/health-check-ports.ts';
import { startResponder, type ResponderOptions } from './health/http-responder.ts';
import { answerHealth, isEligible, isWorking, type NodeHealth } from './health/node-health.ts';
import { layoutSettings, nodeContext, podNetworks } from './node-context.ts';
import { followServiceNetworks } from './service-networks.ts';
import type { DivertibleProxy, ServiceProxy } from './served-service.ts';
import type { ProxySettings } from './settings.ts';
import type { ConnectionTable } from './stale-connections.ts';

/** Dependencies of a proxy. */
export interface ProxyParts {
  readonly settings: ProxySettings;
  readonly client: KubeClient;
  readonly driver: Driver;
  readonly connections: ConnectionTable;
  readonly recorder: EventRecorder;
  readonly kernelSettings: SettingsFiles;
  readonly metricsPage: () => Promise<{ readonly type: string; readonly body: string }>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Puts the egress firewall and the idle switch around the base proxy. */
  readonly wrap?: (base: DivertibleProxy, node: () => Node | undefined) => WrappedProxy;
}

/** The outermost proxy, and the loops that it needs. */
export interface WrappedProxy {
  readonly proxy: ServiceProxy;
  readonly loops: Readonly<Record<string, Loop>>;
  /** Called when the proxy is asked to end, while rules are still written. */
  readonly beforeEnd?: () => Promise<void>;
}

const portRetryMs = 5_000;
const nodeWaitMs = 5_000;

/** Serves Services on this node until the signal fires. The rules stay. */
export async function runProxy(parts: ProxyParts, signal: AbortSignal): Promise<void> {
  const { settings, client, clock, log, metrics } = parts;
  const cluster = new Cluster({
    client,
    clock,
    log,
    metrics,
    nodeName: settings.nodeName,
    serviceProxyName: settings.serviceProxyName,
    servesAll: settings.services === 'all',
  });
  await supervise(signal, {
    cluster: (inner) => cluster.run(inner),
    node: async (inner) => {
      await waitForNode(cluster, parts, inner);
      await serve(cluster, parts, inner);
    },
  });
}

/** Existing rules stay unchanged until the Node is known. */
async function waitForNode(cluster: Cluster, parts: ProxyParts, signal: AbortSignal) {
  const { settings, clock, log } = parts;
  const needsNetworks = settings.insiders.by === 'node-networks';
  await whenSynced([cluster.nodes], signal);
  const isThere = () =>
    cluster.node !== undefined && (!needsNetworks || podNetworks(cluster.node).length > 0);
  while (!isThere()) {
    const what =
      cluster.node === undefined ? 'the Node does not exist' : 'the Node has no podCIDRs';
    log.warn({ node: settings.nodeName }, `${what} yet; no rules are written until then`);
    await sleep(clock, nodeWaitMs, signal);
  }
}

async function serve(cluster: Cluster, parts: ProxyParts, signal: AbortSignal): Promise<void> {
  const { settings, driver, connections, clock, log, metrics } = parts;
  const { sync } = settings;
  const base = new BaseProxy({
    driver,
    connections,
    clock,
    log,
    metrics,
    layout: layoutSettings(settings, cluster.node),
    node: nodeContext(settings, cluster.node, interfaceAddresses()),
    pace: { minIntervalMs: sync.minSeconds * 1000, maxIntervalMs: sync.maxSeconds * 1000 },
    reportLost: (service, lost) => {
      const content = { type: 'Warning', reason: 'AddressTaken', message: whoHas(lost) } as const;
      parts.recorder.record(services, service, content);
    },
    reportExcess: (service, { reason, message }) =>
      parts.recorder.record(services, service, { type: 'Warning', reason, message }),
  });
  const patienceMs = 2 * sync.maxSeconds * 1000;
  const health = (): NodeHealth => ({
    lastDone: base.progress.lastDone,
    waitingMs: base.progress.waitingMs,
    node: cluster.node,
  });
  const checks = new HealthCheckPorts({
    isHealthy: () => isWorking(health(), patienceMs) && isEligible(cluster.node),
    clock,
    log,
  });
  base.onCommit((served) => checks.committed(served));
  const firstCommit = new Promise<void>((resolve) => base.onCommit(() => resolve()));
  const wrapped: WrappedProxy = parts.wrap?.(base, () => cluster.node) ?? {
    proxy: base,
    loops: {},
  };
  const { proxy, loops, beforeEnd = () => Promise.resolve() } = wrapped;
  await supervise(delayedAbort(signal, beforeEnd), {
    ...loops,
    rules: (inner) => base.run(inner),
    'cluster objects': (inner) => followObjects(cluster, proxy, inner),
    'the node itself': (inner) => followNode(cluster, base, parts, inner),
    'health checks': (inner) => checks.run(inner),
    ...(settings.services === 'all' ? serviceNetworks(base, parts) : {}),
    'foreign changes': (inner) => repair(base, driver, log, firstCommit, inner),
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
  });
}

/** Only in place of kube-proxy: beside it, kube-proxy drops packets to unallocated addresses. */
function serviceNetworks(base: BaseProxy, parts: ProxyParts): Readonly<Record<string, Loop>> {
  const { client, clock, log, metrics } = parts;
  const onChange = (networks: readonly Prefix[]) => base.setServiceNetworks(networks);
  return {
    'service networks': (signal) =>
      followServiceNetworks({ client, clock, log, metrics, onChange }, signal),
  };
}

function whoHas(lost: readonly LostTarget[]): string {
  const each = lost.map(({ target, holder }) => {
    const { address, protocol, port } = target.virtual;
    return `${address} (${protocol}/${port}) belongs to ${holder}`;
  });
  return `${each.join('; ')}. An address, protocol and port belongs to one Service: the older one. Addresses that the cluster assigned take precedence over load balancer addresses and external ones.`;
}

async function followObjects(
  cluster: Cluster,
  proxy: ServiceProxy,
  signal: AbortSignal,
): Promise<void> {
  await cluster.follow(proxy, signal);
  await whenAborted(signal);
}

/** The Node's labels and addresses may change; its pod networks are part of every rule. */
async function followNode(
  cluster: Cluster,
  base: BaseProxy,
  { settings, clock, log }: ProxyParts,
  signal: AbortSignal,
): Promise<void> {
  const context = () => nodeContext(settings, cluster.node, interfaceAddresses());
  const networks = () => podNetworks(cluster.node).map(formatPrefix).join(', ');
  const networksAtStart = networks();
  let current = JSON.stringify(context());
  const moved = Promise.withResolvers<never>();
  const check = () => {
    if (cluster.node === undefined) return;
    if (settings.insiders.by === 'node-networks' && networks() !== networksAtStart) {
      const message = `the Node's pod networks are ${networks()} now and were ${networksAtStart}`;
      moved.reject(new CausewayError('conflict', message, { hint: 'Restart the proxy.' }));
      return;
    }
    const next = context();
    if (JSON.stringify(next) === current) return;
    current = JSON.stringify(next);
    log.info({ node: next }, 'the node has changed');
    base.setNode(next);
  };
  const stop = cluster.nodes.onChange(check);
  const checkPeriodically = async () => {
    // Interfaces change without an event.
    while (!signal.aborted) {
      await sleep(clock, Math.max(settings.sync.maxSeconds, 1) * 1000, signal);
      check();
    }
  };
  await Promise.race([moved.promise, checkPeriodically()]).finally(stop);
}

async function repair(
  base: BaseProxy,
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
    base.doubt();
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

/** Addresses of this machine that other machines can reach. */
function interfaceAddresses(): Address[] {
  return Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
    .map(({ address }) => tryParseAddress(address))
    .filter((address) => address !== undefined);
}
