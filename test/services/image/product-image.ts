import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';
import { ensureDebianPackages } from '../debian-packages.ts';
import { withFileLock } from '../file-lock.ts';
import { MissingError } from '../missing.ts';
import { buildBase, ensureBaseImages, runtimeBase } from './base-images.ts';
import { ImageBuilder } from './builder.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');
const archivesKept = 3;

export interface ProductImage {
  /** Its name in manifests and chart. */
  readonly name: string;
  /** For `RealCluster.load`. */
  readonly archive: string;
  /** Unpacked size in bytes. */
  readonly size: number;
}

/** The image of the Dockerfile, built from the current sources; the same sources are built once. */
export async function ensureProductImage(): Promise<ProductImage> {
  const { version } = JSON.parse(await fs.readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return ensureImageOf(root, version);
}

/** The same of another source tree, under its own version. */
export async function ensureImageOf(tree: string, version: string): Promise<ProductImage> {
  if (process.getuid?.() !== 0) throw new MissingError('building the image needs root');
  await ensureDebianPackages(['mount', 'util-linux']);
  const name = `docker.io/library/causeway:${version}`;
  const archive = cacheDirectory('images', `causeway-${await sourcesKey(tree, version)}.tar`);
  const size = await sizeOfKnown(archive);
  if (size !== undefined) return { name, archive, size };
  return withFileLock(cacheDirectory('images.lock'), async () => {
    const known = await sizeOfKnown(archive);
    if (known !== undefined) return { name, archive, size: known };
    process.stderr.write('Building the image (3 minutes the first time, one later)...\n');
    await fs.mkdir(path.dirname(archive), { recursive: true });
    const builder = await ImageBuilder.prepare();
    await ensureBaseImages(builder);
    await builder.build(tree, name, { BUILD_IMAGE: buildBase, RUNTIME_IMAGE: runtimeBase });
    await builder.save(name, archive);
    await removeOldArchives();
    return { name, archive, size: (await fs.stat(archive)).size };
  });
}

/** Its layers are not compressed. Using an image renews it, so that unused ones are removed first. */
async function sizeOfKnown(archive: string): Promise<number | undefined> {
  const known = await fs.stat(archive).catch(() => undefined);
  if (known !== undefined) await fs.utimes(archive, known.atime, new Date());
  return known?.size;
}

/** The files that .dockerignore includes, and the Dockerfile. */
const sources = [
  ...['Dockerfile', '.dockerignore', '.npmrc', 'LICENSE', 'package.json', 'package-lock.json'],
  ...['bin', 'scripts/build.ts', 'scripts/launch.js', 'packages'],
  ...['tsconfig.json', 'tsconfig.build.json'],
];

async function sourcesKey(tree: string, version: string): Promise<string> {
  const hash = createHash('sha256').update(`${version}\0`);
  for (const source of sources) {
    for (const file of await filesIn(tree, source)) {
      if (file.endsWith('.test.ts')) continue;
      hash.update(`${file}\0`).update(await fs.readFile(path.join(tree, file)));
    }
  }
  return hash.digest('hex').slice(0, 12);
}

async function filesIn(tree: string, name: string): Promise<string[]> {
  if (!(await fs.stat(path.join(tree, name))).isDirectory()) return [name];
  const entries = await fs.readdir(path.join(tree, name), {
    recursive: true,
    withFileTypes: true,
  });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(tree, path.join(entry.parentPath, entry.name)))
    .sort();
}

async function removeOldArchives(): Promise<void> {
  const directory = cacheDirectory('images');
  const found: { file: string; time: number }[] = [];
  for (const name of await fs.readdir(directory)) {
    if (!/^causeway-\w+\.tar$/.test(name)) continue;
    const file = path.join(directory, name);
    found.push({ file, time: (await fs.stat(file)).mtimeMs });
  }
  found.sort((left, right) => right.time - left.time);
  for (const { file } of found.slice(archivesKept)) {
    await fs.rm(file, { force: true });
  }
}
