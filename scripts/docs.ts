// Writes the generated files: reference pages, manifests, the chart. With --check it only lists outdated
// files. In both modes it fails if a page lacks something that the sources have.
//
// npm run docs

import fs from 'node:fs/promises';
import path from 'node:path';
import { generatedFiles, generatedFolders } from './generated-files.ts';
import { referenceGaps } from './reference-gaps.ts';

const root = path.dirname(import.meta.dirname);
const onlyCheck = process.argv.includes('--check');
const stale: string[] = [];
const wanted = await generatedFiles();

for (const [name, text] of Object.entries(wanted)) {
  const file = path.join(root, name);
  const present = await fs.readFile(file, 'utf8').catch(() => '');
  if (present === text) continue;
  stale.push(name);
  if (onlyCheck) continue;
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, text);
}
for (const name of await leftOver()) {
  stale.push(name);
  if (!onlyCheck) await fs.rm(path.join(root, name));
}
for (const name of stale)
  console.log(onlyCheck ? `${name} is out of date: run npm run docs` : `wrote ${name}`);
const gaps = referenceGaps();
for (const gap of gaps) console.log(gap);
process.exit(gaps.length > 0 || (onlyCheck && stale.length > 0) ? 1 : 0);

async function leftOver(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of generatedFolders) {
    const entries = await fs
      .readdir(path.join(root, folder), { recursive: true, withFileTypes: true })
      .catch(() => []);
    for (const entry of entries) {
      if (entry.isFile()) found.push(path.relative(root, path.join(entry.parentPath, entry.name)));
    }
  }
  return found.filter((name) => wanted[name] === undefined);
}
