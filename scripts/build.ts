// Compiles the content of a package or an image into dist: Node runs no TypeScript from node_modules.
//
// npm run build

import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { loadAssets } from '../packages/causeway/src/console/dashboard/assets.ts';

const root = path.dirname(import.meta.dirname);
const dist = path.join(root, 'dist');
const pages = 'causeway/src/console/dashboard/pages';

await fs.rm(dist, { recursive: true, force: true });
await compile('tsconfig.build.json');
await joinPackages();
await buildPages();
console.log(`${await countFiles()} files in dist`);

async function compile(project: string): Promise<void> {
  const program = path.join(root, 'node_modules', '.bin', 'tsc');
  const code = await new Promise((resolve) => {
    spawn(program, ['--project', project], { cwd: root, stdio: 'inherit' }).once('close', resolve);
  });
  if (code !== 0) throw new Error(`tsc --project ${project} ended with ${String(code)}`);
}

/** Imports of Causeway's own packages become relative: the published package has no workspaces. */
async function joinPackages(): Promise<void> {
  for await (const file of fs.glob('**/*.js', { cwd: dist })) {
    const text = await fs.readFile(path.join(dist, file), 'utf8');
    const joined = text.replaceAll(
      /(['"])@causeway\/([a-z-]+)\/([\w./-]+)\1/g,
      (_, quote, name, place) => {
        const target = path.relative(path.dirname(file), `${name}/src/${place}.js`);
        return `${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`;
      },
    );
    if (joined !== text) await fs.writeFile(path.join(dist, file), joined);
  }
}

/** The same files that a clone's server sends, under the names that browsers use. */
async function buildPages(): Promise<void> {
  for (const [name, { body }] of await loadAssets(path.join(root, 'packages', pages))) {
    const file = path.join(dist, pages, name === '/' ? 'index.html' : name.replace(/\.ts$/, '.js'));
    await fs.mkdir(path.dirname(file), { recursive: true });
    await fs.writeFile(file, body.toString().replaceAll(/([\w-])\.ts(?=["'])/g, '$1.js'));
  }
}

async function countFiles(): Promise<number> {
  return (await fs.readdir(dist, { recursive: true })).length;
}
