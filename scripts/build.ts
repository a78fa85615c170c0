// Compiles what a package or an image holds into dist: Node runs no TypeScript from node_modules.
//
//   npm run build

import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { loadAssets } from '../src/dashboard/assets.ts';

const root = path.dirname(import.meta.dirname);
const dist = path.join(root, 'dist');

await fs.rm(dist, { recursive: true, force: true });
await compile('tsconfig.build.json');
await buildPages();
console.log(`${await countFiles()} files in dist`);

async function compile(project: string): Promise<void> {
  const program = path.join(root, 'node_modules', '.bin', 'tsc');
  const code = await new Promise((resolve) => {
    spawn(program, ['--project', project], { cwd: root, stdio: 'inherit' }).once('close', resolve);
  });
  if (code !== 0) throw new Error(`tsc --project ${project} ended with ${String(code)}`);
}

/** The same files that a clone's server would send, under the names that browsers know. */
async function buildPages(): Promise<void> {
  for (const [name, { body }] of await loadAssets(path.join(root, 'web'))) {
    const file = path.join(dist, 'web', name === '/' ? 'index.html' : name.replace(/\.ts$/, '.js'));
    await fs.mkdir(path.dirname(file), { recursive: true });
    await fs.writeFile(file, body.toString().replaceAll(/([\w-])\.ts(?=["'])/g, '$1.js'));
  }
}

async function countFiles(): Promise<number> {
  return (await fs.readdir(dist, { recursive: true })).length;
}
