import fs from 'node:fs/promises';

/** A damaged file that is set aside later replaces the one with this number. */
const mostKept = 5;

/**
 * Keeps a damaged file as `FILE.damaged-N` for an operator. The file also stays under its own name where the
 * file system allows it, so that a crash before the replacement is written does not look like a first start.
 */
export async function setAside(file: string): Promise<void> {
  const target = await freeName(file);
  await fs.rm(target, { recursive: true, force: true });
  await fs.link(file, target).catch(() => fs.rename(file, target));
}

async function freeName(file: string): Promise<string> {
  for (let number = 1; number < mostKept; number += 1) {
    const name = `${file}.damaged-${number}`;
    if (!(await exists(name))) return name;
  }
  return `${file}.damaged-${mostKept}`;
}

async function exists(file: string): Promise<boolean> {
  return fs.lstat(file).then(
    () => true,
    () => false,
  );
}
