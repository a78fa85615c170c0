import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ensureDebianPackages } from '../services/debian-packages.ts';
import { isAvailable } from '../services/missing.ts';
import { runProgram } from '../services/run-program.ts';

const units = path.join(import.meta.dirname, '..', '..', 'deploy', 'systemd');

describe.skipIf(!(await isAvailable(() => ensureDebianPackages(['systemd']))))('the units', () => {
  /** The figures of docs/installation.md, in tenths. */
  test.each([
    ['causeway-agent.service', 30],
    ['causeway-keepalived.service', 30],
    ['causeway-proxy.service', 28],
    ['causeway-controller.service', 13],
  ])('%s is exposed no more than documented', async (unit, tenths) => {
    const words = ['security', '--offline=true', '--no-pager', `--threshold=${tenths}`];
    const judged = await runProgram('systemd-analyze', [...words, path.join(units, unit)]);
    expect(judged.code, `${judged.stdout.split('\n').at(-2)}${judged.stderr}`).toBe(0);
  });
});
