import fs from 'node:fs';

/** Kept for everything else that the process has open. */
const reserve = 256;
/** The client's side and the pod's. */
const perConnection = 2;

/** How many connections may be carried at once with so many file descriptors; at least one. */
export function connectionRoom(wanted: number, descriptors: number | undefined): number {
  if (descriptors === undefined) return wanted;
  const room = Math.floor((descriptors - reserve) / perConnection);
  return Math.max(1, Math.min(wanted, room));
}

/** The soft limit in a text such as `/proc/self/limits`; undefined where there is none. */
export function readDescriptorLimit(limits: string): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

/** How many file descriptors this process may have; undefined where nobody can tell. */
export function descriptorLimit(): number | undefined {
  try {
    return readDescriptorLimit(fs.readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return undefined;
  }
}
