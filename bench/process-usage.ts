import fs from 'node:fs/promises';
import { descendantsOf } from '../test/services/process-tree.ts';

/** Of one process since its start. */
export interface Usage {
  /** Including the child processes that it has waited for. */
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** The process that runs the program, among the given one and its descendants. */
export async function usageOf(ancestor: number, program: string): Promise<Usage> {
  for (const pid of [ancestor, ...(await descendantsOf(ancestor))]) {
    if ((await fs.readlink(`/proc/${pid}/exe`).catch(() => '')) !== program) continue;
    const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Own time in user and kernel mode and that of children, in hundredths of a second.
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    const status = await fs.readFile(`/proc/${pid}/status`, 'utf8');
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    return { cpuMs: ticks * 10, residentMb: (kilobytes * 1024) / 1_000_000 };
  }
  throw new Error(`no process below ${ancestor} runs ${program}`);
}
