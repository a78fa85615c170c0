import { CausewayError } from '../domain/error.ts';
import type { EmbeddedOpenStack } from '../sandbox/openstack/cloud.ts';
import { Cloud } from '../openstack/cloud.ts';
import { loadCloudConfig } from '../openstack/config/load.ts';
import { Neutron } from '../openstack/neutron/neutron.ts';
import type { Clock } from '../runtime/clock.ts';
import { silentLog } from '../runtime/log.ts';
import { noMetrics } from '../runtime/metrics.ts';
import type { GatewayPlace } from './data-path.ts';
import { gatewayNames } from './plan.ts';

/** What the tenant has in the cloud before the first Service. */
export interface Tenant {
  readonly subnetId: string;
  readonly externalNetworkId: string;
  readonly gateways: readonly GatewayPlace[];
}

/** Gives each gateway a port of its own in the tenant's network, as an operator would. */
export async function settleTenant(
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
  const session = new Cloud(config, { log: silentLog, metrics: noMetrics, clock }).session();
  const neutron = new Neutron(session);
  const subnet = cloud.neutron.subnets.all().find(({ name }) => name === 'private-v4');
  const external = cloud.neutron.networks.all().find(({ name }) => name === 'public');
  if (subnet === undefined || external === undefined) {
    throw new CausewayError('internal', 'the embedded cloud has no networks');
  }
  const gateways: GatewayPlace[] = [];
  for (const name of gatewayNames) {
    const port = await neutron.ports.create(
      { name, networkId: subnet.network_id, fixedIps: [{ subnetId: subnet.id }] },
      { signal },
    );
    gateways.push({ name, address: port.fixedIps[0]?.address ?? '', port: port.id });
  }
  return { subnetId: subnet.id, externalNetworkId: external.id, gateways };
}
