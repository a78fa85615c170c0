import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const renamedFiles = [
  ['levers.json', 'overrides.json'],
  ['claimed.json', 'announced.json'],
] as const;
const legacyProbeResults = z.looseObject({ silent: z.array(z.string()) });

/**
 * Renames the files of 0.1.0 in the state directory or the runtime directory. Files that already have the new
 * name are kept.
 */
export async function renameLegacyFiles(directory: string): Promise<void> {
  for (const [before, after] of renamedFiles) {
    const target = path.join(directory, after);
    if (await exists(target)) continue;
    const source = path.join(directory, before);
    if (await exists(source)) await fs.rename(source, target);
  }
}

/** 0.1.0 stored unhealthy backends under `silent`. */
export function fromLegacyProbeResults(stored: unknown): unknown {
  const legacy = legacyProbeResults.safeParse(stored);
  if (!legacy.success) return stored;
  const { silent, ...others } = legacy.data;
  return { unhealthy: silent, ...others };
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
