import { HttpAgentClient } from '../../gateway/protocol/agent-client.ts';
import { parseSecrets } from '../../gateway/protocol/secrets.ts';
import type { Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ClusterIdentity } from '../../services/cluster-identity.ts';
import { ConfigMapAddressRecords } from '../../gateway/controller/ports/address-records.ts';
import type { AgentClient } from '../../gateway/controller/fleet/agent-client-contract.ts';
import type { AddressPairWriter } from '../../gateway/controller/fencing/address-pair-writer.ts';
import { leaseGuardedAgent } from '../../gateway/controller/fleet/lease-guarded-agent.ts';
import { GatewayConfigMap } from '../../gateway/controller/gateway-config-map.ts';
import { makeGatewayProvider } from '../../gateway/controller/make-gateway-provider.ts';
import { OpenStackAddressPairWriter } from '../../gateway/controller/fencing/openstack-address-pair-writer.ts';
import { OpenStackPortManager } from '../../gateway/controller/ports/openstack-port-manager.ts';
import {
  configMapPortRecords,
  type PortRecords,
} from '../../gateway/controller/ports/port-records.ts';
import type { PortManager } from '../../gateway/controller/ports/port-manager.ts';
import { StaticPortManager } from '../../gateway/controller/ports/static-port-manager.ts';
import { V1Agent } from '../../gateway/controller/fleet/v1-agent.ts';
import type { LoadBalancerProvider } from '../../services/provider.ts';
import type { ControllerSettings } from './settings.ts';
import { Cloud } from '@causeway/openstack/cloud';
import { loadCloudConfig } from '@causeway/openstack/config/load';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import { systemClock } from '@causeway/base/time/clock';
import { clusterUidOf } from '../cluster/cluster-id.ts';
import type { ProviderSurroundings } from './providers.ts';
import type { OwnershipOf } from './ownership.ts';
import { readTextFile } from '../terminal/read-text-file.ts';

/** The gateway provider as configured in the controller's settings. */
export async function gatewayProvider(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  ownershipOf: OwnershipOf,
  signal: AbortSignal,
): Promise<LoadBalancerProvider> {
  const { gateway, leaderElection } = settings;
  const openStack =
    gateway.portManager === 'static'
      ? undefined
      : await openStackOf(settings, surroundings, signal);
  const place = { ...surroundings, namespace: leaderElection.namespace };
  const owned = openStack === undefined ? undefined : await ownershipOf('gateway', signal);
  return makeGatewayProvider({
    ...surroundings,
    layer: gateway.layer,
    masquerade: gateway.masquerade,
    keepWayBack: gateway.keepWayBack,
    driftEveryMs: settings.driftSeconds * 1000,
    resyncEveryMs: gateway.resyncSeconds * 1000,
    fenceAfterMs: gateway.fenceAfterSeconds * 1000,
    restMs: gateway.restSeconds * 1000,
    manager:
      openStack !== undefined && owned !== undefined
        ? openStack.managerFor(owned.cluster, configMapPortRecords(place))
        : new StaticPortManager(
            { ranges: gateway.addresses, retiring: gateway.retiringAddresses },
            new ConfigMapAddressRecords(place),
          ),
    ...(owned === undefined ? {} : { orphans: owned.orphans }),
    ...(openStack === undefined ? {} : { pairWriter: openStack.pairWriter }),
    configMap: new GatewayConfigMap(place),
    agents: await makeAgentPorts(settings, surroundings),
    cluster: owned?.cluster.uid ?? (await clusterUidOf(surroundings, signal)),
    withoutAffinity: gateway.agents.filter(({ api }) => api === 'v1').map(({ name }) => name),
  });
}

type ManagerFor = (cluster: ClusterIdentity, records: PortRecords) => PortManager;

/** The parts that use Neutron, from the controller's settings. */
export async function openStackOf(
  settings: ControllerSettings,
  { log, metrics, clock, leaseGuard }: Omit<ProviderSurroundings, 'client'>,
  signal: AbortSignal,
): Promise<{ managerFor: ManagerFor; pairWriter: AddressPairWriter }> {
  const { gateway } = settings;
  const name = settings.cloud;
  const config = await loadCloudConfig({
    environment: process.env,
    workingDirectory: process.cwd(),
    ...(name === undefined ? {} : { cloud: name }),
  });
  const neutron = new Neutron(new Cloud(config, { log, metrics, clock, leaseGuard }).session());
  const subnets = new Map<Family, Subnet>();
  for (const id of gateway.subnets) {
    const subnet = await neutron.subnets.get(id, { signal });
    const other = subnets.get(subnet.family);
    if (other !== undefined) {
      throw new CausewayError(
        'invalid',
        `gateway.subnets: ${other.id} and ${subnet.id} are both IPv${subnet.family}; only one per family is allowed`,
      );
    }
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
    managerFor: (cluster, records) =>
      new OpenStackPortManager({
        neutron,
        cluster,
        records,
        subnets,
        floating,
        keepWayBack: gateway.keepWayBack,
      }),
    pairWriter: new OpenStackAddressPairWriter({
      ...addressPairs,
      networks: networks.length > 0 ? networks : [...subnets.values()].map(({ cidr }) => cidr),
      neutron,
      ports: new Map(gateway.agents.map(({ name: each, port }) => [each, port])),
    }),
  };
}

/** Clients of the gateways that run Causeway's agent. */
export async function makeAgents(
  settings: ControllerSettings,
): Promise<Map<string, HttpAgentClient>> {
  const clients = new Map<string, HttpAgentClient>();
  for (const { api, ...options } of await agentOptions(settings)) {
    if (api === 'v2') clients.set(options.name, new HttpAgentClient(options));
  }
  return clients;
}

/** Clients of all gateways, each with the protocol that it supports. */
async function makeAgentPorts(
  settings: ControllerSettings,
  { leaseGuard, clock }: ProviderSurroundings,
): Promise<Map<string, AgentClient>> {
  return new Map(
    (await agentOptions(settings)).map(({ api, ...options }) => {
      const agent = api === 'v1' ? new V1Agent(options) : new HttpAgentClient(options);
      return [
        options.name,
        leaseGuard === undefined ? agent : leaseGuardedAgent(agent, leaseGuard, clock),
      ];
    }),
  );
}

async function agentOptions({ gateway }: ControllerSettings) {
  const { agentAuthorityFile } = gateway;
  const ca = agentAuthorityFile === undefined ? undefined : await readTextFile(agentAuthorityFile);
  return Promise.all(
    gateway.agents.map(async ({ name, url, api, secretFile = gateway.secretFile }) => ({
      name,
      url,
      api,
      secret: await readSecret(secretFile),
      clock: systemClock,
      limitMs: 10_000,
      ...(ca === undefined ? {} : { tls: { ca } }),
    })),
  );
}

async function readSecret(file: string | undefined): Promise<Uint8Array> {
  if (file === undefined) {
    throw new CausewayError('invalid', 'gateway.secretFile is missing', {
      hint: 'Name the file with the secret that the agents share with the controller.',
    });
  }
  const [secret] = parseSecrets(await readTextFile(file));
  if (secret === undefined)
    throw new CausewayError('internal', 'the secret is missing after validation');
  return secret;
}
