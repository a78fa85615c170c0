import { CausewayError } from '@causeway/base/error/causeway-error';
import { serviceActor } from '@causeway/fake-openstack/actor';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { subnetResource } from '@causeway/fake-openstack/neutron/subnets';
import { Cloud } from '@causeway/openstack/cloud';
import { loadCloudConfig } from '@causeway/openstack/config/load';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Clock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import type { GatewayPlace } from './data-path.ts';
import { gatewayNames, plans, type FamilyPlan } from './plan.ts';

/** The tenant's resources in the cloud before the first Service. */
export interface Tenant {
  /** One for each family. */
  readonly subnets: readonly string[];
  readonly externalNetworkId: string;
  readonly gateways: readonly GatewayPlace[];
}

/** Creates a Neutron port for each gateway in the tenant's network, as an operator would. */
export async function prepareTenant(
  cloud: EmbeddedOpenStack,
  cloudsFile: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<Tenant> {
  const config = await loadCloudConfig({
    environment: { OS_CLIENT_CONFIG_FILE: cloudsFile },
    workingDirectory: '/',
    cloud: 'demo',
  });
  const session = new Cloud(config, { log: discardLog, metrics: noMetrics, clock }).session();
  const neutron = new Neutron(session);
  const subnets = plans.map((plan) => subnetOf(cloud, plan));
  const external = cloud.neutron.networks.all().find(({ name }) => name === 'public');
  const [first] = subnets;
  if (first === undefined || external === undefined) {
    throw new CausewayError('internal', 'the embedded cloud has no networks');
  }
  const gateways: GatewayPlace[] = [];
  for (const name of gatewayNames) {
    const port = await neutron.ports.create(
      {
        name,
        networkId: first.network_id,
        fixedIps: subnets.map(({ id }) => ({ subnetId: id })),
      },
      { signal },
    );
    const addresses = subnets.map(
      ({ id }) => port.fixedIps.find(({ subnetId }) => subnetId === id)?.address ?? '',
    );
    gateways.push({ name, addresses, port: port.id });
  }
  return { subnets: subnets.map(({ id }) => id), externalNetworkId: external.id, gateways };
}

/** The cloud starts with an IPv4 subnet; the IPv6 subnet is added. */
function subnetOf({ neutron }: EmbeddedOpenStack, { tenant, family }: FamilyPlan) {
  const found = neutron.subnets.all().find(({ name }) => name === tenant.subnet);
  if (found !== undefined) return found;
  const network = neutron.networks.all().find(({ name }) => name === 'private');
  if (network === undefined) {
    throw new CausewayError('internal', 'the embedded cloud has no network of its tenant');
  }
  const { project_id: project, id } = network;
  const { subnet: name, prefix: cidr, router: gateway_ip } = tenant;
  return subnetResource(neutron).create(
    { name, network_id: id, ip_version: family, cidr, gateway_ip },
    serviceActor(project),
    project,
  );
}
