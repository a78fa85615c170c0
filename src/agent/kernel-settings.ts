import fs from 'node:fs/promises';
import path from 'node:path';
import type { KernelSetting } from './http/status.ts';

/** What the data path relies on. We own these: they are set at the start and whenever they are found otherwise. */
const wanted: Readonly<Record<string, string>> = {
  'net.ipv4.ip_forward': '1',
  'net.ipv6.conf.all.forwarding': '1',
  // A connection that comes back after another gateway had it is out of the window that was seen here.
  'net.netfilter.nf_conntrack_tcp_be_liberal': '1',
  // A connection that another gateway had is picked up in mid-stream.
  'net.netfilter.nf_conntrack_tcp_loose': '1',
};

const root = '/proc/sys';

/** Sets what is not as wanted, and answers how everything was found. */
export async function enforceKernelSettings(): Promise<KernelSetting[]> {
  const found: KernelSetting[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const before = await readSetting(name);
    if (before !== value) await fs.writeFile(fileOf(name), value).catch(() => undefined);
    found.push({ name, wanted: value, found: before === value ? value : await readSetting(name) });
  }
  return found;
}

/** How many connections the kernel tracks, and how many it could. */
export async function readConnections(): Promise<{ count: number; limit: number } | null> {
  const [count, limit] = await Promise.all([
    readSetting('net.netfilter.nf_conntrack_count'),
    readSetting('net.netfilter.nf_conntrack_max'),
  ]);
  return count === null || limit === null ? null : { count: Number(count), limit: Number(limit) };
}

async function readSetting(name: string): Promise<string | null> {
  const text = await fs.readFile(fileOf(name), 'utf8').catch(() => null);
  return text === null ? null : text.trim();
}

function fileOf(name: string): string {
  return path.join(root, ...name.split('.'));
}
