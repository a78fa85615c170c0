import os from 'node:os';
import type { Command } from 'commander';
import type { Driver } from '@causeway/nftables/drivers/driver';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { NetlinkDriver } from '@causeway/nftables/drivers/netlink/netlink-driver';
import { NftDriver } from '@causeway/nftables/drivers/nft-driver';
import { convertKubeProxyConfiguration } from '../../node-proxy/kube-proxy-configuration.ts';
import { proxySettings, type ProxySettings } from '../../node-proxy/settings.ts';
import { readConfig } from '../config/options.ts';

/** Also accepts kube-proxy's configuration file. */
export async function readProxyConfig(command: Command) {
  const warnings: string[] = [];
  const convert = (tree: Readonly<Record<string, unknown>>) => {
    const converted = convertKubeProxyConfiguration(tree);
    warnings.push(...(converted?.warnings ?? []));
    return converted?.settings;
  };
  const { nodeName = os.hostname().toLowerCase(), ...rest } = await readConfig(
    command,
    proxySettings,
    convert,
  );
  return { settings: { ...rest, nodeName }, warnings };
}

/** Opens the nftables driver of the settings; the caller closes it. */
export function openDriver({ nftables }: ProxySettings): Promise<Driver> {
  const { table, driver } = nftables;
  if (driver === 'netlink') return NetlinkDriver.open({ table });
  return Promise.resolve(driver === 'nft' ? new NftDriver({ table }) : new MemoryDriver(table));
}
