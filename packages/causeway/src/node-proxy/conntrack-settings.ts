import type { SettingsFiles } from '@causeway/netlink/kernel-settings';
import type { ProxySettings } from './settings.ts';

/** A kernel setting and its desired value. */
export interface KernelSetting {
  /** Such as `net.netfilter.nf_conntrack_max`. */
  readonly name: string;
  readonly value: number;
  /** A higher current value is kept. */
  readonly isAtLeast?: boolean;
}

/**
 * The desired settings of the connection table, from the configuration and the number of cores. 0 keeps the
 * current value.
 */
export function wantedConntrack(
  conntrack: ProxySettings['conntrack'],
  cores: number,
): KernelSetting[] {
  const { maxPerCore, min } = conntrack;
  const limit = maxPerCore > 0 ? Math.max(maxPerCore * cores, min) : 0;
  const wanted: KernelSetting[] = [
    { name: 'nf_conntrack_max', value: limit, isAtLeast: true },
    { name: 'nf_conntrack_tcp_timeout_established', value: conntrack.tcpEstablishedSeconds },
    { name: 'nf_conntrack_tcp_timeout_close_wait', value: conntrack.tcpCloseWaitSeconds },
    { name: 'nf_conntrack_udp_timeout', value: conntrack.udpSeconds },
    { name: 'nf_conntrack_udp_timeout_stream', value: conntrack.udpStreamSeconds },
    { name: 'nf_conntrack_tcp_be_liberal', value: conntrack.tcpBeLiberal ? 1 : 0 },
  ];
  return wanted
    .filter(({ value }) => value > 0)
    .map((setting) => ({ ...setting, name: `net.netfilter.${setting.name}` }));
}

/** Sets the values that differ; returns a description of each failure. */
export async function enforceSettings(
  files: SettingsFiles,
  wanted: readonly KernelSetting[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, value, isAtLeast = false } of wanted) {
    const text = await files.read(name);
    const found = text === null ? undefined : Number(text);
    if (found === value || (isAtLeast && found !== undefined && found > value)) continue;
    try {
      await files.write(name, String(value));
    } catch (error) {
      const because = error instanceof Error ? error.message : String(error);
      problems.push(`${name} is ${found ?? 'not there'} and should be ${value}: ${because}`);
    }
  }
  return problems;
}
