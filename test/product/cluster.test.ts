import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const repository = path.join(import.meta.dirname, '..', '..');
const isRoot = process.getuid?.() === 0;

/** The program behind `npm run cluster`; the launcher before it only forwards signals. */
describe.skipIf(!isRoot)('a real cluster to try out, on an unsupported machine', () => {
  let clone = '';
  beforeAll(async () => {
    clone = await scratchDirectory('clone');
    await fs.chmod(clone, 0o755);
  });
  afterAll(() => removeDirectory(clone));

  /** On a changed machine; the clone may be in a private directory, so it is mounted elsewhere. */
  const startOn = (change: string, ...words: string[]) => {
    const script = `mount --bind "$0" "$1" && ${change} && cd "$1" && shift && exec "$@"`;
    const node = process.execPath.replace(repository, clone);
    const command = [...words, node, path.join(clone, 'scripts', 'cluster.ts')];
    return runProgram('unshare', ['--mount', 'sh', '-c', script, repository, clone, ...command]);
  };

  test('a user without root gets a one-line error', async () => {
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const { code, stdout, stderr } = await startOn('true', ...nobody);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'causeway: the real cluster needs root\n',
    });
  });

  test('without control groups of version 1 it names the requirement in one line, before it builds anything', async () => {
    const { code, stdout, stderr } = await startOn('mount -t tmpfs tmpfs /sys/fs/cgroup');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^causeway: the real cluster needs control groups of version 1.*\n$/);
  });
});
