// Compiles the content of a package or an image into dist: Node runs no TypeScript from node_modules.
//
// npm run build [-- DIRECTORY]

import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { loadAssets } from '../packages/causeway/src/console/dashboard/assets.ts';

const root = path.dirname(import.meta.dirname);
const dist = path.resolve(process.argv[2] ?? path.join(root, 'dist'));
const pages = 'causeway/src/console/dashboard/pages';

await fs.rm(dist, { recursive: true, force: true });
await compile('tsconfig.build.json');
await copyData();
await joinPackages();
await removeUnreached();
await buildPages();
console.log(`${await countFiles()} files in ${dist}`);

async function compile(project: string): Promise<void> {
  const program = path.join(root, 'node_modules', '.bin', 'tsc');
  const code = await new Promise((resolve) => {
    const words = ['--project', project, '--outDir', dist];
    spawn(program, words, { cwd: root, stdio: 'inherit' }).once('close', resolve);
  });
  if (code !== 0) throw new Error(`tsc --project ${project} ended with ${String(code)}`);
}

/** Copies the JSON files that sources import: the compiler leaves out some of them, others in each run. */
async function copyData(): Promise<void> {
  const packages = path.join(root, 'packages');
  for await (const file of fs.glob('*/src/**/*.json', { cwd: packages })) {
    if (file.includes('/pages/')) continue;
    await fs.mkdir(path.dirname(path.join(dist, file)), { recursive: true });
    await fs.copyFile(path.join(packages, file), path.join(dist, file));
  }
}

/** Imports of our own packages become relative: the published package has no workspaces. */
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

/** Removes the files that neither the command nor a worker imports: doubles that only tests use don't ship. */
async function removeUnreached(): Promise<void> {
  const files: string[] = [];
  for await (const file of fs.glob('**/*.js', { cwd: dist })) files.push(file);
  const reached = new Set<string>();
  const waiting = [
    'causeway/src/cli/main.js',
    ...files.filter((file) => file.endsWith('.worker.js')),
  ];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    waiting.push(...(await importsOf(file)));
  }
  for (const file of files) if (!reached.has(file)) await fs.rm(path.join(dist, file));
}

/** The files of dist that a file imports, also while it runs. */
async function importsOf(file: string): Promise<string[]> {
  const text = await fs.readFile(path.join(dist, file), 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map((each) => each.moduleRequest?.value)),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  return names
    .filter((name) => name?.startsWith('.') === true && name.endsWith('.js'))
    .map((name) => path.join(path.dirname(file), name ?? ''));
}

/** The same files that a clone's server would send, under the names that browsers know. */
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
