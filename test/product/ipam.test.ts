import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIpamServer, type IpamServer } from '../services/ipam-server.ts';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
let directory = '';
let server: IpamServer;
const file = (name: string) => path.join(directory, name);

/** Runs `causeway ipam …` like a user. */
async function ipam(args: string, token = 'operator.token') {
  const env = { CAUSEWAY_SERVER: server?.url ?? '', CAUSEWAY_TOKEN_FILE: file(token) };
  return runProgram(process.execPath, [main, 'ipam', ...args.split(' ')], { env, cwd: directory });
}

beforeAll(async () => {
  directory = await scratchDirectory('ipam-product');
  const ledger = ['--ledger', `sqlite:${file('ipam.db')}`];
  const init = ['init', ...ledger, '--credential-file', file('operator.token')];
  await runProgram(process.execPath, [main, 'ipam', ...init]);
  server = await startIpamServer(directory, 'server', ledger);
});
afterAll(async () => {
  await server.process.stop();
  await removeDirectory(directory);
});

test('the first operator is created once, with the settings of the server', async () => {
  const config = file('server.yaml');
  await fs.writeFile(config, `ledger: sqlite:${file('once.db')}\nlisten: { port: 8444 }\n`);
  const init = `init --once --config ${config}`;
  expect((await ipam(init)).stderr).toContain('--once requires --credential-file');
  const first = await ipam(`${init} --credential-file ${file('once.token')}`);
  expect(first.stdout).toContain("the first operator's token is in");
  const token = await fs.readFile(file('once.token'), 'utf8');
  const again = await ipam(`${init} --credential-file ${file('once.token')}`);
  expect(again).toMatchObject({ code: 0, stdout: 'the ledger already has an operator\n' });
  expect(await fs.readFile(file('once.token'), 'utf8')).toBe(token);
});

describe('the command line', () => {
  test('takes an operator from an empty ledger to a Service with an address', async () => {
    expect(await ipam('sites set edge --quarantine 10m --keep-for 1h')).toMatchObject({ code: 0 });
    const pool = 'pools set edge public --addresses 192.0.2.0/28 --gateways 192.0.2.1';
    expect((await ipam(pool)).stdout).toMatch(/public +192\.0\.2\.0\/28 +13 +0 +0 +13/);
    const created = await ipam('clusters create edge blue --quota 3 --credential-file blue.token');
    expect(created.stdout).toMatch(/^edge\/blue: control plane 192\.0\.2\.\d+ \(pool public\)\n$/);
    expect((await fs.stat(file('blue.token'))).mode & 0o077).toBe(0);
    const reserved = await ipam(
      'reserve edge blue --uid u1 --service shop/web -o json',
      'blue.token',
    );
    const [reservation] = JSON.parse(reserved.stdout) as {
      fencingToken: number;
      addresses: { address: string }[];
    }[];
    const address = reservation?.addresses[0]?.address ?? '';
    expect((await ipam(`who-has edge ${address}`)).stdout).toContain('shop/web');
    const free = `free edge blue --uid u1 --fencing-token ${reservation?.fencingToken} --withdrawn`;
    expect((await ipam(free, 'blue.token')).stdout).toBe(`${address}\n`);
    const { stdout } = await ipam(`history edge ${address}`);
    expect(stdout).toMatch(/free[^]*reserve/);
    const again = await ipam('reserve edge blue --uid u2 --service shop/web', 'blue.token');
    expect(again.stdout).toContain(address);
  });

  test('reports errors with a specific exit code', async () => {
    expect(await ipam('pools list edge', 'blue.token')).toMatchObject({ code: 4 });
    expect(await ipam('pools list nowhere')).toMatchObject({ code: 5 });
    const overlap = await ipam('pools set edge more --addresses 192.0.2.8-192.0.2.99');
    expect(overlap).toMatchObject({ code: 1 });
    expect(overlap.stderr).toContain('overlaps pool public in 192.0.2.8-192.0.2.14');
    const wrong = await ipam('reserve edge blue --uid u3 --address 192.0.2.1', 'blue.token');
    expect(wrong).toMatchObject({ code: 3 });
    expect(await ipam('sites set edge --quarantine 10')).toMatchObject({ code: 3 });
    expect(await ipam('serve --listen-host 0.0.0.0')).toMatchObject({ code: 3 });
  });

  test('backs up, and restores into a ledger that assigns no new addresses', async () => {
    expect(await ipam('backup backup.json')).toMatchObject({ code: 0 });
    const ledger = `sqlite:${file('restored.db')}`;
    const restored = await ipam(`restore backup.json --ledger ${ledger}`);
    expect(restored.stdout).toMatch(/^restored \d+ keys; no new addresses/);
    const other = await startIpamServer(directory, 'restored', ['--ledger', ledger]);
    const env = { CAUSEWAY_SERVER: other.url, CAUSEWAY_TOKEN_FILE: file('blue.token') };
    const args = [main, 'ipam', 'reserve', 'edge', 'blue', '--uid', 'fresh'];
    const refused = await runProgram(process.execPath, args, { env });
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.stderr).toContain('recovering');
    await other.process.stop();
  });
});
