import fs from 'node:fs/promises';
import path from 'node:path';

/** A kernel setting that the data path needs, and its previous value. */
export interface KernelSetting {
  readonly name: string;
  readonly wanted: string;
  readonly found: string | null;
}

/** The requirements of a machine on its kernel. */
export interface KernelNeeds {
  /** Links that carry packets of services. */
  readonly interfaces: readonly string[];
  /** Connections of another gateway continue here. */
  readonly resumesConnections: boolean;
  /** The link through which answers return with an address of this machine as their source. */
  readonly routesBy?: string | undefined;
}

/** Reads and writes settings by name, as text under /proc/sys. */
export interface SettingsFiles {
  read(name: string): Promise<string | null>;
  write(name: string, value: string): Promise<void>;
}

/** The settings of a machine, with its links. */
export interface MachineSettings extends SettingsFiles {
  /** Links that have IPv6 settings, and `all` and `default`. */
  links6(): Promise<readonly string[]>;
}

/** The effective reverse path filtering of a link is the maximum of its own value and that of `all`. */
const strict = 1;
const loose = 2;

/**
 * Sets the settings that the data path needs, and returns the previous state of all. Causeway owns these
 * settings: call it at the start and at intervals.
 */
export async function enforceKernelSettings(
  needs: KernelNeeds,
  files: MachineSettings,
): Promise<KernelSetting[]> {
  const found: KernelSetting[] = [];
  for (const [name, wanted] of await wantedSettings(needs, files)) {
    const before = await files.read(name);
    if (before !== wanted) await files.write(name, wanted).catch(() => undefined);
    found.push({ name, wanted, found: before === wanted ? wanted : await files.read(name) });
  }
  return found;
}

async function wantedSettings(
  { interfaces, resumesConnections, routesBy }: KernelNeeds,
  files: MachineSettings,
): Promise<Map<string, string>> {
  const wanted = new Map([
    // Before forwarding: enabling it removes the routes.
    ...(await keptAdvertisements(files)),
    ['net.ipv4.ip_forward', '1'],
    [forwarding6('all'), '1'],
  ]);
  if (resumesConnections) {
    // A connection that returns from another gateway is outside of the TCP window that was seen here.
    wanted.set('net.netfilter.nf_conntrack_tcp_be_liberal', '1');
    // A connection of another gateway is picked up in mid-stream.
    wanted.set('net.netfilter.nf_conntrack_tcp_loose', '1');
    // A connection that was picked up from the server's side blocks its client's next connection until its
    // entry expires.
    wanted.set('net.netfilter.nf_conntrack_tcp_timeout_close', '1');
  }
  const all = Number(await files.read(reversePath('all')));
  for (const link of new Set(interfaces)) {
    const own = (await files.read(reversePath(link))) ?? '0';
    // Packets arrive through another link than the route back uses: loose mode is enough, and a disabled
    // filter is left unchanged.
    const isStrict = Math.max(all, Number(own)) === strict;
    wanted.set(reversePath(link), isStrict ? String(loose) : own);
    // ARP for an address is answered and sent only on the link that has it.
    wanted.set(`net.ipv4.conf.${link}.arp_ignore`, '1');
    wanted.set(`net.ipv4.conf.${link}.arp_announce`, '2');
  }
  if (routesBy !== undefined) wanted.set(`net.ipv4.conf.${routesBy}.accept_local`, '1');
  return wanted;
}

/**
 * A link that forwards ignores router advertisements with `accept_ra` 1, and loses the default route that it
 * got from them; 2 keeps them. Links that already forwarded are left unchanged: they have no such route to
 * lose, and their operator may want none.
 */
async function keptAdvertisements(files: MachineSettings): Promise<[string, string][]> {
  if ((await files.read(forwarding6('all'))) !== '0') return [];
  const kept: [string, string][] = [];
  for (const link of await files.links6()) {
    const name = `net.ipv6.conf.${link}.accept_ra`;
    const isListening =
      (await files.read(forwarding6(link))) === '0' && (await files.read(name)) === '1';
    if (link !== 'all' && isListening) kept.push([name, '2']);
  }
  return kept;
}

/** The number of tracked connections, and the limit. */
export async function readConnections(
  files: SettingsFiles,
): Promise<{ count: number; limit: number } | null> {
  const [count, limit] = await Promise.all([
    files.read('net.netfilter.nf_conntrack_count'),
    files.read('net.netfilter.nf_conntrack_max'),
  ]);
  return count === null || limit === null ? null : { count: Number(count), limit: Number(limit) };
}

function reversePath(link: string): string {
  return `net.ipv4.conf.${link}.rp_filter`;
}

function forwarding6(link: string): string {
  return `net.ipv6.conf.${link}.forwarding`;
}

export const settingsDirectory = '/proc/sys';

/**
 * The settings below a directory. They belong to the network namespace of the process, at any mount point: in
 * a container /proc/sys is read-only, but a mount elsewhere is not.
 */
export const settingsIn = (directory: string): MachineSettings => ({
  async read(name) {
    const text = await fs.readFile(fileOf(directory, name), 'utf8').catch(() => null);
    return text === null ? null : text.trim();
  },
  write: (name, value) => fs.writeFile(fileOf(directory, name), value),
  links6: () => fs.readdir(path.join(directory, 'net/ipv6/conf')).catch(() => []),
});

/** The middle part may be a link name that contains dots. */
function fileOf(directory: string, name: string): string {
  const [net = '', family = '', area = '', ...rest] = name.split('.');
  const last = rest.pop();
  const parts =
    last === undefined ? [area] : [area, ...(rest.length === 0 ? [] : [rest.join('.')]), last];
  return path.join(directory, net, family, ...parts);
}
