import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from './load-settings.ts';

const schema = z.strictObject({
  listen: z
    .strictObject({
      address: z.string().default('127.0.0.1').describe('Where to listen.'),
      port: z.number().int().min(1).max(65535).default(15203),
    })
    .prefault({}),
  peers: z.array(z.string()).default([]),
  verbose: z.boolean().default(false),
  agents: z.array(z.strictObject({ url: z.string(), portId: z.string().optional() })).default([]),
});

let directory = '';
beforeAll(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-config-'));
});
afterAll(() => fs.rm(directory, { recursive: true }));

async function load(yaml: string, flags: object = {}, environment: Record<string, string> = {}) {
  const file = path.join(directory, 'config.yaml');
  await fs.writeFile(file, yaml);
  return loadConfig(schema, { file, environment, flags: flags as Record<string, unknown> });
}

test('prefers flags over the environment, the environment over the file, and the file over defaults', async () => {
  const yaml = 'listen: {port: 1}\npeers: [a]\n';
  expect(await load('')).toMatchObject({
    listen: { address: '127.0.0.1', port: 15203 },
    peers: [],
  });
  expect(await load(yaml)).toMatchObject({ listen: { port: 1 }, peers: ['a'] });
  const environment = { CAUSEWAY_LISTEN_PORT: '2', CAUSEWAY_PEERS: 'b, c' };
  expect(await load(yaml, {}, environment)).toMatchObject({
    listen: { port: 2 },
    peers: ['b', 'c'],
  });
  const flags = { '--listen-port': '3', '--verbose': true };
  expect(await load(yaml, flags, environment)).toMatchObject({
    listen: { port: 3 },
    verbose: true,
  });
});

test('rejects an unknown key with its line and the nearest known key', async () => {
  await expect(load('listen:\n  adress: ::1\n')).rejects.toThrow(
    /config\.yaml:2: listen\.adress: unknown key; did you mean address\?/,
  );
  await expect(load('agents:\n- url: x\n  portid: y\n')).rejects.toThrow(/did you mean portId\?/);
  await expect(load('quux: 1\n')).rejects.toThrow(/quux: unknown key; known here: listen, peers/);
});

test('reports all problems at once, each with its source', async () => {
  const failure = load('verbose: maybe\n', { '--listen-port': '70000' });
  await expect(failure).rejects.toThrow(/--listen-port: .*65535/);
  await expect(load('verbose: maybe\n', { '--listen-port': 'x' })).rejects.toThrow(
    /config\.yaml:1: verbose: [\s\S]*/,
  );
});

test('explains a missing file, a broken file and a file that is not a mapping', async () => {
  await expect(
    loadConfig(schema, { file: path.join(directory, 'none.yaml'), environment: {}, flags: {} }),
  ).rejects.toThrow("can't be read");
  await expect(load('a: [1')).rejects.toThrow('is not valid YAML');
  await expect(load('- a\n')).rejects.toThrow('must hold settings');
});
