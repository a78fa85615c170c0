import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findLayerViolations } from './layers.ts';

let root = '';
beforeEach(async () => {
  root = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-layers-'));
});
afterEach(() => fs.rm(root, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await fs.mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await fs.writeFile(path.join(root, file), text);
}

test('imports that point down are fine, imports that point up are named', async () => {
  await write('runtime/a.ts', "import { x } from '../domain/x.ts';\n");
  await write('domain/x.ts', "import type { y } from '../runtime/a.ts';\n");
  await write('kube/b.ts', "const z = await import('../openstack/z.ts');\n");
  await write('kube/b.test.ts', "import { z } from '../openstack/z.ts';\n");
  expect(await findLayerViolations(root)).toEqual([
    'src/domain/x.ts: imports runtime/a.ts, but domain may import only itself',
    'src/kube/b.ts: imports openstack/z.ts, but kube may import only domain, runtime',
  ]);
});

test('a folder that nobody put into the table is named', async () => {
  await write('helpers/a.ts', '');
  expect(await findLayerViolations(root)).toEqual([
    'src/helpers/a.ts: the folder helpers is not in the table of layers',
  ]);
});
