import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const repository = path.join(import.meta.dirname, '..', '..');
const isRoot = process.getuid?.() === 0;

/** What `npm run cluster` is; the launcher before it only passes signals on. */
describe.skipIf(!isRoot)('a real cluster to play with, where it cannot be had', () => {
  let clone = '';
  beforeAll(async () => {
    clone = await scratchDirectory('clone');
    await fs.chmod(clone, 0o755);
  });
  afterAll(() => removeDirectory(clone));

  /** On a machine that is otherwise; the clone may be where nobody may look, and is shown elsewhere. */
  const startOn = (change: string, ...words: string[]) => {
    const script = `mount --bind "$0" "$1" && ${change} && cd "$1" && shift && exec "$@"`;
    const node = process.execPath.replace(repository, clone);
    const command = [...words, node, path.join(clone, 'scripts', 'cluster.ts')];
    return runProgram('unshare', ['--mount', 'sh', '-c', script, repository, clone, ...command]);
  };

  test('somebody who is not root is told so, in a line', async () => {
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const { code, stdout, stderr } = await startOn('true', ...nobody);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'causeway: the real cluster needs root\n',
    });
  });

  test('without control groups of version 1 it says what it needs, in a line, before it builds anything', async () => {
    const { code, stdout, stderr } = await startOn('mount -t tmpfs tmpfs /sys/fs/cgroup');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^causeway: the real cluster needs control groups of version 1.*\n$/);
  });
});
