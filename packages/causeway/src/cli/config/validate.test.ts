import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { validateConfig } from './validate.ts';

let directory: string;

beforeAll(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-validate-'));
  await fs.writeFile(path.join(directory, 'secret'), 'c2VjcmV0');
});

afterAll(() => fs.rm(directory, { recursive: true }));

async function problemsOf(
  command: string,
  settings: object,
  checksFiles = true,
): Promise<string | undefined> {
  const file = path.join(directory, `${command}.yaml`);
  // JSON is YAML.
  await fs.writeFile(file, JSON.stringify(settings));
  return validateConfig(command, file, { checksFiles }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

const network = {
  interface: 'ext',
  virtualRouterId: 51,
  address4: '192.0.2.11',
  address6: '2001:db8::11',
  anchor4: '192.0.2.1',
};

const agent = (external: object = {}) => ({
  name: 'g1',
  addresses: { mover: 'foreign' },
  secretsFile: path.join(directory, 'secret'),
  external: { ...network, ...external },
});

test('accepts an agent with other gateways as peers', async () => {
  const external = { peers4: ['192.0.2.12'], peers6: ['2001:db8::12'] };
  expect(await problemsOf('agent', agent(external))).toBeUndefined();
});

test('rejects an agent that is its own peer', async () => {
  const external = { peers4: ['192.0.2.12', '192.0.2.11'], peers6: ['2001:db8::11'] };
  const problems = await problemsOf('agent', agent(external));
  expect(problems).toContain("external.peers4 has 192.0.2.11, which is this gateway's own address");
  expect(problems).toContain('external.peers6 has 2001:db8::11');
});

test('rejects a secrets file that does not exist, unless files are not checked', async () => {
  const secretsFile = path.join(directory, 'none');
  const settings = { ...agent(), secretsFile };
  expect(await problemsOf('agent', settings)).toContain(
    `secretsFile: ${secretsFile} can't be read: the file does not exist`,
  );
  expect(await problemsOf('agent', settings, false)).toBeUndefined();
});

test('rejects an agent without a secrets file', async () => {
  const { secretsFile: _, ...settings } = agent();
  expect(await problemsOf('agent', settings)).toContain('secretsFile is not set');
});

test('rejects a controller without a secret for its gateways', async () => {
  const gateway = {
    enabled: true,
    addresses: ['192.0.2.1'],
    agents: [{ name: 'g1', url: 'https://192.0.2.11:15213' }],
  };
  expect(await problemsOf('controller', { gateway })).toContain('gateway.secretFile is missing');
  const named = { ...gateway, secretFile: path.join(directory, 'none') };
  expect(await problemsOf('controller', { gateway: named })).toContain('gateway.secretFile: ');
  const right = { ...gateway, secretFile: path.join(directory, 'secret') };
  expect(await problemsOf('controller', { gateway: right })).toBeUndefined();
});
