import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';
import { withFileLock } from '../file-lock.ts';
import { ensureProgram } from '../programs.ts';
import { writeImages } from './image-archive.ts';
import { sandboxImage } from './node-configuration.ts';

export const dnsImage = 'causeway.test/coredns:1';

/** The archive with the initial images of every node: sandbox, server and client in one, and CoreDNS. */
export async function ensureBasicImages(): Promise<string> {
  const programs = {
    workload: await ensureProgram('workload'),
    coredns: await ensureProgram('coredns'),
  };
  const key = createHash('sha256')
    .update(Object.values(programs).join())
    .update(await fs.readFile(path.join(import.meta.dirname, 'image-archive.ts')));
  const file = cacheDirectory('images', `basic-${key.digest('hex').slice(0, 12)}.tar`);
  // Processes don't wait for each other's image.
  if (await isThere(file)) return file;
  return withFileLock(cacheDirectory('images.lock'), async () => {
    if (await isThere(file)) return file;
    const root = `${file}.root`;
    await fs.rm(root, { recursive: true, force: true });
    await fs.mkdir(root, { recursive: true });
    for (const [name, program] of Object.entries(programs)) {
      await fs.copyFile(program, path.join(root, name));
    }
    await writeImages(file, root, [
      { name: sandboxImage, entrypoint: ['/workload'], user: '65532:65532' },
      { name: dnsImage, entrypoint: ['/coredns'] },
    ]);
    await fs.rm(root, { recursive: true });
    return file;
  });
}

function isThere(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
