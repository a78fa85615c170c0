import { expect, test } from 'vitest';
import { completeLock } from './complete-lock.ts';
import { readLock, type Lock } from './lock-file.ts';

const tool = (...names: string[]): Lock => ({
  packages: {
    '': {},
    'node_modules/tool': {
      version: '1.2.3',
      dev: true,
      optionalDependencies: Object.fromEntries(names.map((name) => [name, '1.2.3'])),
    },
  },
});

test.each([
  ['@tool/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
  ['@tool/binding-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
  ['@tool/binding-linux-arm-gnueabihf', { os: ['linux'], cpu: ['arm'], libc: ['glibc'] }],
  ['@tool/binding-wasm32-wasi', { cpu: ['wasm32'] }],
  ['@tool/win32-x64', { os: ['win32'], cpu: ['x64'] }],
])('a missing %s is added for its platform', (name, platform) => {
  const { packages } = completeLock(tool(name));
  expect(packages[`node_modules/${name}`]).toEqual({
    version: '1.2.3',
    dev: true,
    optional: true,
    ...platform,
  });
});

test('an entry that npm wrote stays unchanged, also below its parent', () => {
  const { packages } = tool('@tool/linux-x64', '@tool/linux-arm64');
  const lock = {
    packages: {
      ...packages,
      'node_modules/@tool/linux-x64': { version: '1.2.3', integrity: 'sha512-above' },
      'node_modules/tool/node_modules/@tool/linux-arm64': { version: '1.2.3', license: 'MIT' },
    },
  };
  const completed = completeLock(lock);
  expect(completed.packages).toEqual(lock.packages);
});

test('the lock file of this repository is complete', () => {
  const lock = readLock();
  expect(completeLock(lock)).toEqual(lock);
});
