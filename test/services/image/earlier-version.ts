import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';
import { withFileLock } from '../file-lock.ts';
import { MissingError } from '../missing.ts';
import { runOrThrow, runProgram } from '../run-program.ts';
import { ensureImageOf, type ProductImage } from './product-image.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');

/** The product at an earlier version, as a user installed it. */
export interface EarlierVersion {
  readonly image: ProductImage;
  /** Version of the image, as in `image.tag`. */
  readonly version: string;
  readonly chart: string;
}

/** The product at a commit of this repository. */
export async function ensureEarlierVersion(commit: string): Promise<EarlierVersion> {
  const tree = cacheDirectory('earlier', commit);
  await withFileLock(cacheDirectory('earlier.lock'), () => checkOut(commit, tree));
  const version = `0.0.0-${commit.slice(0, 12)}`;
  const image = await ensureImageOf(tree, version);
  return { image, version, chart: path.join(tree, 'deploy', 'helm', 'causeway') };
}

async function checkOut(commit: string, tree: string): Promise<void> {
  const isThere = await fs.stat(tree).catch(() => undefined);
  if (isThere !== undefined) return;
  const known = await runProgram('git', ['-C', root, 'cat-file', '-e', `${commit}^{commit}`]);
  if (known.code !== 0) throw new MissingError(`this clone does not have the commit ${commit}`);
  await fs.rm(`${tree}.part`, { recursive: true, force: true });
  await fs.mkdir(`${tree}.part`, { recursive: true });
  const script = 'git -C "$0" archive "$1" | tar -x -C "$2"';
  await runOrThrow('sh', ['-euc', script, root, commit, `${tree}.part`]);
  await fs.rename(`${tree}.part`, tree);
}
