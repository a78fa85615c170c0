import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';
import { writeImages } from '../real-cluster/image-archive.ts';
import { runOrThrow } from '../run-program.ts';
import type { ImageBuilder } from './builder.ts';
import { makeDebian } from './debootstrap.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');
export const runtimeBase = 'localhost/causeway-test-debian:1';
export const buildBase = 'localhost/causeway-test-node:2';
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Replacement of the registry's images: the Debian of this machine from debootstrap, and the same with the
 * pinned Node and this machine's npm.
 */
export async function ensureBaseImages(builder: ImageBuilder): Promise<void> {
  const directory = cacheDirectory('images', `base-${process.pid}`);
  try {
    if (!(await builder.hasImage(runtimeBase))) await makeRuntimeBase(builder, directory);
    if (!(await builder.hasImage(buildBase))) await makeBuildBase(builder, directory);
  } finally {
    await fs.rm(directory, { recursive: true, force: true });
  }
}

async function makeRuntimeBase(builder: ImageBuilder, directory: string): Promise<void> {
  const files = path.join(directory, 'root');
  await makeDebian(builder.packages, files, ['ca-certificates']);
  const archive = path.join(directory, 'image.tar');
  await writeImages(archive, files, [{ name: runtimeBase }]);
  await builder.add(archive, runtimeBase);
}

/** npm needs this machine's certificate authorities if packages come through a mirror. */
async function makeBuildBase(builder: ImageBuilder, directory: string): Promise<void> {
  const context = path.join(directory, 'node');
  await fs.mkdir(context, { recursive: true });
  const npm = (await runOrThrow('which', ['npm'])).trim();
  await fs.cp(path.dirname(path.dirname(await fs.realpath(npm))), path.join(context, 'npm'), {
    recursive: true,
  });
  const node = path.join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  await fs.copyFile(node, path.join(context, 'node'));
  await fs.copyFile(authorities, path.join(context, 'authorities.crt'));
  await fs.writeFile(
    path.join(context, 'Dockerfile'),
    `FROM ${runtimeBase}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends libatomic1 libstdc++6
COPY authorities.crt ${authorities}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/npm
RUN ln -s ../lib/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=${authorities}
`,
  );
  await builder.build(context, buildBase);
}
