import fs from 'node:fs';

/** Descriptors reserved for the rest of the process. */
const reserve = 256;
/** The client's side and the pod's. */
const perConnection = 2;

/** How many connections may be forwarded at once with this number of file descriptors; at least one. */
export function connectionRoom(wanted: number, descriptors: number | undefined): number {
  if (descriptors === undefined) return wanted;
  const room = Math.floor((descriptors - reserve) / perConnection);
  return Math.max(1, Math.min(wanted, room));
}

/** The soft limit in a text such as `/proc/self/limits`; undefined if unlimited or missing. */
export function readDescriptorLimit(limits: string): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

/** The limit of file descriptors of this process; undefined if unknown. */
export function descriptorLimit(): number | undefined {
  try {
    return readDescriptorLimit(fs.readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return undefined;
  }
}
