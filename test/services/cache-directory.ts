import os from 'node:os';
import path from 'node:path';

/** Expensive builds are kept outside the tree, for all clones of this user. */
export function cacheDirectory(...names: string[]): string {
  const base =
    process.env['CAUSEWAY_CACHE'] ??
    path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'causeway');
  return path.join(base, ...names);
}
