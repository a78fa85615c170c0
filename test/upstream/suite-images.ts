import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../services/cache-directory.ts';
import { withFileLock } from '../services/file-lock.ts';
import { makeDebian } from '../services/image/debootstrap.ts';
import { ensureProgram, sourceDirectory } from '../services/programs.ts';
import { writeImages, type ImageContent } from '../services/real-cluster/image-archive.ts';
import { runProgram } from '../services/run-program.ts';
import { unpackDebianPackages } from '../services/unpacked-packages.ts';

const packages = [
  ...['bind9-dnsutils', 'busybox', 'ca-certificates', 'conntrack', 'curl', 'iperf', 'iproute2'],
  ...['iptables', 'iputils-ping', 'netcat-openbsd', 'nftables', 'nginx-light', 'procps', 'wget'],
];

/** How to start the images that the network tests use. */
const starts: Readonly<Record<string, Omit<ImageContent, 'name'>>> = {
  'e2e-test-images/agnhost': { entrypoint: ['/agnhost'], command: ['pause'] },
  pause: { entrypoint: ['/workload'] },
  'e2e-test-images/busybox': { command: ['sh'] },
  'e2e-test-images/nginx': { command: ['nginx', '-g', 'daemon off;'] },
  'e2e-test-images/glibc-dns-testing': { command: ['bash'] },
  'e2e-test-images/regression-issue-74839': { entrypoint: ['/regression-issue-74839'] },
  'build-image/distroless-iptables': { command: ['bash'] },
};

/**
 * The archive with the images of the suite, under the names that it requests: one Debian with everything,
 * instead of the small systems of upstream.
 */
export async function ensureSuiteImages(): Promise<string> {
  const archive = cacheDirectory('images', 'upstream-1.36.3-1.tar');
  return withFileLock(cacheDirectory('upstream-images.lock'), async () => {
    const isThere = await fs.access(archive).then(
      () => true,
      () => false,
    );
    if (isThere) return archive;
    const root = `${archive}.root`;
    await fs.rm(root, { recursive: true, force: true });
    await makeDebian(await unpackDebianPackages(['debootstrap']), root, packages);
    await addPrograms(root);
    await writeImages(archive, root, await imagesOfSuite());
    await fs.rm(root, { recursive: true });
    return archive;
  });
}

async function addPrograms(root: string): Promise<void> {
  const inRoot = (name: string) => path.join(root, name);
  for (const name of ['agnhost', 'coredns', 'regression-issue-74839', 'workload'] as const) {
    await fs.copyFile(await ensureProgram(name), inRoot(name));
  }
  await fs.symlink('agnhost', inRoot('agnhost-2'));
  await fs.symlink('/usr/bin/iperf', inRoot('usr/local/bin/iperf'));
  await fs.mkdir(inRoot('uploads'));
  const images = path.join(await sourceDirectory('agnhost'), 'test/images/agnhost/porter');
  for (const name of ['localhost.crt', 'localhost.key']) {
    await fs.copyFile(path.join(images, name), inRoot(name));
    await fs.chmod(inRoot(name), 0o644);
  }
  const user = 'user-defined-in-image';
  await fs.appendFile(inRoot('etc/passwd'), `${user}:x:1000:1000::/home:/bin/sh\n`);
  await fs.appendFile(
    inRoot('etc/group'),
    `${user}:x:1000:\ngroup-defined-in-image:x:50000:${user}\n`,
  );
  // Like busybox in the upstream image: with retries, each check that nothing answers takes minutes.
  await fs.writeFile(inRoot('etc/wgetrc'), 'tries = 1\n');
  await fs.rm(inRoot('etc/nginx/sites-enabled/default'), { force: true });
  await fs.writeFile(
    inRoot('etc/nginx/conf.d/default.conf'),
    'server { listen 80 default_server; root /var/www/html; }\n',
  );
}

/** Names and versions according to the suite itself. */
async function imagesOfSuite(): Promise<ImageContent[]> {
  const { stdout } = await runProgram(await ensureProgram('e2e.test'), ['--list-images']);
  const names = new Set(stdout.split('\n').map((line) => line.trim()));
  return [...names].flatMap((name) => {
    const start = Object.entries(starts).find(([end]) => name.split(':')[0]?.endsWith(`/${end}`));
    return start === undefined ? [] : [{ name, ...start[1] }];
  });
}
