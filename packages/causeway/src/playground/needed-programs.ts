import { runProgram } from '@causeway/base/process/run-program';

/** The programs for network namespaces with real packets, and their Debian packages. */
const packageOf: Readonly<Record<string, string>> = {
  ip: 'iproute2',
  nft: 'nftables',
  keepalived: 'keepalived',
  conntrack: 'conntrack',
  sysctl: 'procps',
  nsenter: 'util-linux',
  unshare: 'util-linux',
};

/** Names the missing programs and how to install them; undefined if there are none. */
export async function whyNoPrograms(): Promise<string | undefined> {
  const missing: string[] = [];
  for (const program of Object.keys(packageOf)) {
    if (!(await isInstalled(program))) missing.push(program);
  }
  return missing.length === 0 ? undefined : explainMissing(missing);
}

export function explainMissing(programs: readonly string[]): string {
  const packages = new Set(programs.map((program) => packageOf[program]));
  const names = programs.join(', ').replace(/, ([^,]+)$/, ' and $1');
  const verb = programs.length === 1 ? 'is' : 'are';
  return `${names} ${verb} not installed (as root: apt-get install ${[...packages].join(' ')})`;
}

async function isInstalled(program: string): Promise<boolean> {
  return (await runProgram('sh', ['-c', `command -v ${program}`])).code === 0;
}
