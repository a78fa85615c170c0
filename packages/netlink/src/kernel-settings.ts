import fs from 'node:fs/promises';
import path from 'node:path';

/** A setting of the kernel that the data path relies on, and how it was found. */
export interface KernelSetting {
  readonly name: string;
  readonly wanted: string;
  readonly found: string | null;
}

/** What a machine needs of its kernel. */
export interface KernelNeeds {
  /** Links that packets of services come and go by. */
  readonly interfaces: readonly string[];
  /** Connections that another gateway had go on here. */
  readonly resumesConnections: boolean;
  /** The link by which answers come back with an address of this machine as their source. */
  readonly routesBy?: string | undefined;
}

/** Settings by name, as text under /proc/sys: read and written. */
export interface SettingsFiles {
  read(name: string): Promise<string | null>;
  write(name: string, value: string): Promise<void>;
}

/** The settings of a whole machine, with its links. */
export interface MachineSettings extends SettingsFiles {
  /** Links that have settings of IPv6, and `all` and `default`. */
  links6(): Promise<readonly string[]>;
}

/** Reverse path filtering of a link is the greater of its own value and that of all. */
const strict = 1;
const loose = 2;

/**
 * Sets what is not as the data path needs it, and answers how everything was found. These settings are
 * ours: call it at the start and again and again.
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
    // Before forwarding: switching it on is what takes the routes away.
    ...(await keptAdvertisements(files)),
    ['net.ipv4.ip_forward', '1'],
    [forwarding6('all'), '1'],
  ]);
  if (resumesConnections) {
    // A connection that comes back after another gateway had it is out of the window that was seen here.
    wanted.set('net.netfilter.nf_conntrack_tcp_be_liberal', '1');
    // A connection that another gateway had is picked up in mid-stream.
    wanted.set('net.netfilter.nf_conntrack_tcp_loose', '1');
    // What was picked up from the server's side refuses its client's next connection until it is forgotten.
    wanted.set('net.netfilter.nf_conntrack_tcp_timeout_close', '1');
  }
  const all = Number(await files.read(reversePath('all')));
  for (const link of new Set(interfaces)) {
    const own = (await files.read(reversePath(link))) ?? '0';
    // Packets come by another link than the way back leads over: loose is enough, off is left alone.
    const isStrict = Math.max(all, Number(own)) === strict;
    wanted.set(reversePath(link), isStrict ? String(loose) : own);
    // An address is answered for, and asked from, on the link that has it and on no other.
    wanted.set(`net.ipv4.conf.${link}.arp_ignore`, '1');
    wanted.set(`net.ipv4.conf.${link}.arp_announce`, '2');
  }
  if (routesBy !== undefined) wanted.set(`net.ipv4.conf.${routesBy}.accept_local`, '1');
  return wanted;
}

/**
 * A link that forwards heeds no router advertisements (`accept_ra` 1), and loses the default route that
 * it had of them, unless told to heed them all the same (2). Links that forwarded before are left alone:
 * they have no such route to lose, and their operator may want none.
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

/** How many connections the kernel tracks, and how many it could. */
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
 * The settings below a directory. They are those of the network namespace that the process is in,
 * wherever they are mounted: in a container /proc/sys is read-only, and a mount elsewhere is not.
 */
export const settingsIn = (directory: string): MachineSettings => ({
  async read(name) {
    const text = await fs.readFile(fileOf(directory, name), 'utf8').catch(() => null);
    return text === null ? null : text.trim();
  },
  write: (name, value) => fs.writeFile(fileOf(directory, name), value),
  links6: () => fs.readdir(path.join(directory, 'net/ipv6/conf')).catch(() => []),
});

/** The part in the middle may be the name of a link with dots in it. */
function fileOf(directory: string, name: string): string {
  const [net = '', family = '', area = '', ...rest] = name.split('.');
  const last = rest.pop();
  const parts =
    last === undefined ? [area] : [area, ...(rest.length === 0 ? [] : [rest.join('.')]), last];
  return path.join(directory, net, family, ...parts);
}
