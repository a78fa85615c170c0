import { ledgerId } from '../../ipam/ledger-id.ts';
import type { Ledger } from '../../ipam/ledger.ts';
import { LateDriver } from '../../ipam/platform/late-driver.ts';
import { OpenStackDriver } from '../../ipam/platform/openstack-driver.ts';
import type { PlatformDriver } from '../../ipam/platform/platform-driver.ts';
import type { PlatformSettings } from '../../ipam/settings.ts';
import { Cloud, type CloudOptions } from '@causeway/openstack/cloud';
import { loadCloudConfig } from '@causeway/openstack/config/load';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';

/**
 * The platforms of the server's settings, with the server's secrets. Wrong settings fail here; an unreachable
 * cloud does not.
 */
export async function openPlatforms(
  platforms: readonly PlatformSettings[],
  options: CloudOptions,
  ledger: Ledger,
): Promise<Map<string, PlatformDriver>> {
  const drivers = new Map<string, PlatformDriver>();
  for (const platform of platforms) {
    const { cloud } = platform;
    const config = await loadCloudConfig({
      environment: process.env,
      workingDirectory: process.cwd(),
      ...(cloud === undefined ? {} : { cloud }),
    });
    const neutron = new Neutron(new Cloud(config, options).session());
    const open = (signal: AbortSignal) => openStackDriver(platform, neutron, ledger, signal);
    drivers.set(platform.name, new LateDriver(open));
  }
  return drivers;
}

async function openStackDriver(
  platform: PlatformSettings,
  neutron: Neutron,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<OpenStackDriver> {
  const { floatingNetwork: networkId, floatingSubnet: subnetId } = platform;
  const subnets: Subnet[] = [];
  for (const id of platform.subnets) subnets.push(await neutron.subnets.get(id, { signal }));
  const floating =
    networkId === undefined
      ? undefined
      : { networkId, ...(subnetId === undefined ? {} : { subnetId }) };
  const id = await ledgerId(ledger, signal);
  return new OpenStackDriver({ neutron, ledger: id, subnets, floating });
}
