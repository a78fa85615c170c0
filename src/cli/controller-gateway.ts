import { AgentClient } from '../agent/client/agent-client.ts';
import { parseSecrets } from '../agent/http/secrets.ts';
import type { Family } from '../domain/address.ts';
import { CausewayError } from '../domain/error.ts';
import type { AddressDoors } from '../loadbalancer/gateway/address-doors.ts';
import { GatewayBoard } from '../loadbalancer/gateway/gateway-board.ts';
import { makeGatewayProvider } from '../loadbalancer/gateway/make-gateway-provider.ts';
import { OpenStackAddressDoors } from '../loadbalancer/gateway/openstack-address-doors.ts';
import { OpenStackPortManager } from '../loadbalancer/gateway/openstack-port-manager.ts';
import type { PortManager } from '../loadbalancer/gateway/port-manager.ts';
import { StaticPortManager } from '../loadbalancer/gateway/static-port-manager.ts';
import type { LoadBalancerProvider } from '../loadbalancer/provider.ts';
import type { ControllerSettings } from '../loadbalancer/settings.ts';
import { Cloud } from '../openstack/cloud.ts';
import { loadCloudConfig } from '../openstack/config/load.ts';
import { Neutron } from '../openstack/neutron/neutron.ts';
import type { Subnet } from '../openstack/neutron/resources.ts';
import { systemClock } from '../runtime/clock.ts';
import type { ProviderSurroundings } from './controller-providers.ts';
import { readTextFile } from './read-text-file.ts';

/** The gateway provider as the controller's settings describe it. */
export async function gatewayProvider(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  signal: AbortSignal,
): Promise<LoadBalancerProvider> {
  const { gateway, leaderElection } = settings;
  const openStack =
    gateway.portManager === 'static'
      ? undefined
      : await openStackOf(settings, surroundings, signal);
  return makeGatewayProvider({
    ...surroundings,
    layer: gateway.layer,
    masquerade: gateway.masquerade,
    keepWayBack: gateway.keepWayBack,
    driftEveryMs: settings.driftSeconds * 1000,
    fenceAfterMs: gateway.fenceAfterSeconds * 1000,
    restMs: gateway.restSeconds * 1000,
    manager: openStack?.manager ?? new StaticPortManager(gateway.addresses),
    ...(openStack === undefined ? {} : { doors: openStack.doors }),
    board: new GatewayBoard({ ...surroundings, namespace: leaderElection.namespace }),
    agents: await makeAgents(settings),
  });
}

/** The parts that speak with Neutron, by the controller's settings. */
export async function openStackOf(
  settings: ControllerSettings,
  { log, metrics, clock }: Omit<ProviderSurroundings, 'client'>,
  signal: AbortSignal,
): Promise<{ manager: PortManager; doors: AddressDoors }> {
  const { gateway, clusterId } = settings;
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
  const { floatingNetwork, floatingSubnet, addressPairs } = gateway;
  const floating =
    floatingNetwork === undefined
      ? undefined
      : {
          networkId: floatingNetwork,
          ...(floatingSubnet === undefined ? {} : { subnetId: floatingSubnet }),
        };
  const { networks } = addressPairs;
  return {
    manager: new OpenStackPortManager({ neutron, clusterId, subnets, floating }),
    doors: new OpenStackAddressDoors({
      ...addressPairs,
      networks: networks.length > 0 ? networks : [...subnets.values()].map(({ cidr }) => cidr),
      neutron,
      ports: new Map(gateway.agents.map(({ name: each, port }) => [each, port])),
    }),
  };
}

export async function makeAgents({
  gateway,
}: ControllerSettings): Promise<Map<string, AgentClient>> {
  if (gateway.secretFile === undefined) {
    throw new CausewayError('invalid', 'gateway.secretFile is missing', {
      hint: 'Name the file with the secret that the agents share with the controller.',
    });
  }
  const [secret] = parseSecrets(await readTextFile(gateway.secretFile));
  if (secret === undefined) throw new CausewayError('internal', 'no secret, and no complaint');
  const { agentAuthorityFile } = gateway;
  const ca = agentAuthorityFile === undefined ? undefined : await readTextFile(agentAuthorityFile);
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
