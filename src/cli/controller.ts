import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import { Command } from 'commander';
import { AgentClient } from '../agent/client/agent-client.ts';
import { parseSecrets } from '../agent/http/secrets.ts';
import type { Family } from '../domain/address.ts';
import { CausewayError } from '../domain/error.ts';
import { KubeClient } from '../kube/client.ts';
import { findConnection } from '../kube/connection.ts';
import { EventRecorder } from '../kube/event-recorder.ts';
import { HttpTransport } from '../kube/http-transport.ts';
import { runAsLeader } from '../kube/leader-election.ts';
import { services } from '../kube/resources.ts';
import { makeGatewayProvider } from '../loadbalancer/gateway/make-gateway-provider.ts';
import { OpenStackPortManager } from '../loadbalancer/gateway/openstack-port-manager.ts';
import type { PortManager } from '../loadbalancer/gateway/port-manager.ts';
import { StaticPortManager } from '../loadbalancer/gateway/static-port-manager.ts';
import type { LoadBalancerProvider } from '../loadbalancer/provider.ts';
import { ServiceController } from '../loadbalancer/service-controller.ts';
import { controllerSettings, type ControllerSettings } from '../loadbalancer/settings.ts';
import { watchProcess } from '../observe/event-loop.ts';
import { createLog } from '../observe/logger.ts';
import { startObserveServer } from '../observe/observe-server.ts';
import { PrometheusMetrics } from '../observe/prometheus.ts';
import { Readiness } from '../observe/readiness.ts';
import { Cloud } from '../openstack/cloud.ts';
import { loadCloudConfig } from '../openstack/config/load.ts';
import { Neutron } from '../openstack/neutron/neutron.ts';
import type { Subnet } from '../openstack/neutron/resources.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { supervise } from '../runtime/supervisor.ts';
import { addConfigOptions, readConfig } from './config-options.ts';
import { stopSignal } from './stop-signal.ts';

/** `causeway controller`: serves Services of type LoadBalancer. */
export function controllerCommand(): Command {
  const command = new Command('controller').description(
    'serve Services of type LoadBalancer with the providers that are configured',
  );
  addConfigOptions(command, controllerSettings);
  return command.action(async () => {
    await runController(await readConfig(command, controllerSettings), stopSignal());
  });
}

interface Shared {
  readonly client: KubeClient;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: typeof systemClock;
}

async function runController(settings: ControllerSettings, signal: AbortSignal): Promise<void> {
  const clock = systemClock;
  const log = createLog({ ...settings.log, destination: process.stdout });
  const metrics = new PrometheusMetrics();
  const readiness = new Readiness();
  const { kubeconfig, context } = settings;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const client = new KubeClient({
    transport: new HttpTransport(connection, clock),
    clock,
    metrics,
  });
  const identity = `${os.hostname()}-${randomUUID().slice(0, 8)}`;
  const observe = await startObserveServer({
    host: settings.observe.address,
    port: settings.observe.port,
    metrics,
    readiness,
  });
  log.info({ cluster: connection.server, health: observe.url, identity }, 'starting');
  const shared = { client, log, metrics, clock };
  const lead = (leading: KubeClient, inner: AbortSignal) =>
    serve(settings, { ...shared, client: leading }, readiness, identity, inner);
  try {
    await supervise(signal, {
      'process metrics': (inner) => watchProcess(clock, metrics, inner),
      controller: (inner) =>
        settings.leaderElection.enabled
          ? runAsLeader(
              { ...shared, lease: settings.leaderElection, identity },
              (leadership, deepest) => lead(client.withFence(leadership), deepest),
              inner,
            )
          : lead(client, inner),
    });
  } finally {
    await observe.close();
    await client.close();
  }
}

async function serve(
  settings: ControllerSettings,
  shared: Shared,
  readiness: Readiness,
  instance: string,
  signal: AbortSignal,
): Promise<void> {
  const recorder = new EventRecorder({ ...shared, component: 'causeway-controller', instance });
  const all = await makeProviders(settings, shared, signal);
  if (all.length === 0) {
    throw new CausewayError('invalid', 'no provider is enabled', {
      hint: 'Enable one in the settings, such as gateway.enabled.',
    });
  }
  const controller = new ServiceController({
    ...shared,
    providers: { all, defaultName: settings.defaultProvider },
    tell: (service, type, reason, message) =>
      recorder.record(services, service, { type, reason, message }),
    workers: settings.workers,
  });
  readiness.add('services', () => controller.readiness());
  await supervise(signal, {
    events: (inner) => recorder.run(inner),
    services: (inner) => controller.run(inner),
  });
}

async function makeProviders(
  settings: ControllerSettings,
  shared: Shared,
  signal: AbortSignal,
): Promise<LoadBalancerProvider[]> {
  const { gateway } = settings;
  if (!gateway.enabled) return [];
  return [
    makeGatewayProvider({
      ...shared,
      layer: gateway.layer,
      masquerade: gateway.masquerade,
      keepWayBack: gateway.keepWayBack,
      driftEveryMs: settings.driftSeconds * 1000,
      manager: await makePortManager(settings, shared, signal),
      agents: await makeAgents(settings),
    }),
  ];
}

async function makePortManager(
  settings: ControllerSettings,
  { log, metrics, clock }: Shared,
  signal: AbortSignal,
): Promise<PortManager> {
  const { gateway, clusterId } = settings;
  if (gateway.portManager === 'static') return new StaticPortManager(gateway.addresses);
  const name = settings.cloud;
  const config = await loadCloudConfig({
    environment: process.env,
    workingDirectory: process.cwd(),
    ...(name === undefined ? {} : { cloud: name }),
  });
  const neutron = new Neutron(new Cloud(config, { log, metrics, clock }).session());
  const subnets = new Map<Family, Subnet>();
  for (const id of gateway.subnets) {
    const subnet = await neutron.subnets.get(id, { signal });
    subnets.set(subnet.family, subnet);
  }
  const { floatingNetwork, floatingSubnet } = gateway;
  const floating =
    floatingNetwork === undefined
      ? undefined
      : {
          networkId: floatingNetwork,
          ...(floatingSubnet === undefined ? {} : { subnetId: floatingSubnet }),
        };
  return new OpenStackPortManager({ neutron, clusterId, subnets, floating });
}

async function makeAgents({ gateway }: ControllerSettings): Promise<Map<string, AgentClient>> {
  if (gateway.secretFile === undefined) {
    throw new CausewayError('invalid', 'gateway.secretFile is missing', {
      hint: 'Name the file with the secret that the agents share with the controller.',
    });
  }
  const [secret] = parseSecrets(await readFile(gateway.secretFile));
  if (secret === undefined) throw new CausewayError('internal', 'no secret, and no complaint');
  const { agentAuthorityFile } = gateway;
  const ca = agentAuthorityFile === undefined ? undefined : await readFile(agentAuthorityFile);
  return new Map(
    gateway.agents.map(({ name, url }) => [
      name,
      new AgentClient({
        name,
        url,
        secret,
        clock: systemClock,
        limitMs: 10_000,
        ...(ca === undefined ? {} : { tls: { ca } }),
      }),
    ]),
  );
}

async function readFile(file: string): Promise<string> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    throw new CausewayError('not-found', `${file} can't be read`, { cause: error });
  }
}
