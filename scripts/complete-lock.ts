// Adds the optional packages that npm leaves out of package-lock.json, so that `npm ci` accepts the file.
//
//   npm run lock
//
// npm omits an optional package from the lock file when the registry does not have it, and `npm ci` then
// rejects the file on every platform. npm has no option to complete such a lock file.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { lockFile, readLock, resolveInLock, type Lock, type LockedPackage } from './lock-file.ts';

const operatingSystems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];
const cLibraries: Readonly<Record<string, string>> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};

/** The lock with an entry for each optional dependency of each package. */
export function completeLock(lock: Lock): Lock {
  const packages: Record<string, LockedPackage> = { ...lock.packages };
  for (const [place, parent] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (resolveInLock(lock, place, name) !== undefined) continue;
      packages[`node_modules/${name}`] ??= missingEntry(name, version, parent);
    }
  }
  const sorted = Object.entries(packages).sort(([left], [right]) =>
    left.localeCompare(right, 'en'),
  );
  return { ...lock, packages: Object.fromEntries(sorted) };
}

/** Without an integrity: no registry entry was seen. npm checks the package when it installs it. */
function missingEntry(name: string, version: string, parent: LockedPackage): LockedPackage {
  const words = name.slice(name.indexOf('/') + 1).split('-');
  const os = operatingSystems.filter((word) => words.includes(word));
  const cpu = processors.filter((word) => words.includes(word));
  const libc = Object.entries(cLibraries).find(([suffix]) => words.includes(suffix))?.[1];
  return {
    version,
    ...(cpu.length === 0 ? {} : { cpu }),
    ...(parent.dev === true ? { dev: true } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(os.length === 0 ? {} : { os }),
    ...(parent.peer === true ? { peer: true } : {}),
  };
}

export function formatLock(lock: Lock): string {
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

if (import.meta.main) {
  const before = readLock();
  const after = completeLock(before);
  writeFileSync(lockFile, formatLock(after));
  const added = Object.keys(after.packages).length - Object.keys(before.packages).length;
  console.log(`${path.basename(lockFile)}: ${added} optional packages added`);
}
