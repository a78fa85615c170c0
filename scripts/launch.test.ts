import { expect, test } from 'vitest';
import { canInstall, isInstalled, type LockedPackages } from './launch.js';

test.each([
  ['18.20.0', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['21.7.3', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', true],
  ['26.10.0', true],
])('npm under Node %s installs everything: %s', (version, can) => {
  expect(canInstall(version)).toBe(can);
});

const here = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const lock: LockedPackages = {
  packages: {
    '': { version: '1.0.0' },
    'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' },
    'node_modules/tool-linux': { version: '1.0.0', optional: true, os: ['linux'], cpu: ['x64'] },
    'node_modules/tool-musl': { version: '1.0.0', optional: true, os: ['linux'], libc: ['musl'] },
    'node_modules/tool-mac': { version: '1.0.0', optional: true, os: 'darwin', cpu: 'arm64' },
    'node_modules/only-for-wasm': { version: '1.0.0', optional: true },
  },
};
const { zod, tool } = { zod: 'node_modules/zod', tool: 'node_modules/tool-linux' };
const record = (changes: Record<string, object | undefined> = {}): LockedPackages => {
  const all = { [zod]: lock.packages?.[zod], [tool]: lock.packages?.[tool], ...changes };
  return JSON.parse(JSON.stringify({ packages: all })) as LockedPackages;
};

test.each<[string, LockedPackages, boolean]>([
  ['everything for this platform', record(), true],
  ['no packages', {}, false],
  ['a missing package', record({ [zod]: undefined }), false],
  ['a missing optional package for this platform', record({ [tool]: undefined }), false],
  ['another version', record({ [zod]: { version: '4.0.1', integrity: 'sha512-a' } }), false],
  ['other content', record({ [zod]: { version: '4.0.0', integrity: 'sha512-b' } }), false],
  ['a package that the lock file does not have', record({ 'node_modules/more': {} }), false],
])('an installation with %s is complete: %s', (_, installed, isComplete) => {
  expect(isInstalled(lock, installed, here)).toBe(isComplete);
});
