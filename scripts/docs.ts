// Writes the generated reference pages. With --check it only says which of them are out of date. Either
// way it fails where a page lacks something that the sources have.
//
//   npm run docs

import fs from 'node:fs/promises';
import path from 'node:path';
import { referenceGaps } from './reference-gaps.ts';
import { referencePages } from './reference-pages.ts';

const directory = path.join(path.dirname(import.meta.dirname), 'docs', 'reference');
const onlyCheck = process.argv.includes('--check');
const stale: string[] = [];

await fs.mkdir(directory, { recursive: true });
for (const [name, text] of Object.entries(referencePages())) {
  const file = path.join(directory, name);
  const present = await fs.readFile(file, 'utf8').catch(() => '');
  if (present === text) continue;
  stale.push(`docs/reference/${name}`);
  if (!onlyCheck) await fs.writeFile(file, text);
}
for (const name of stale)
  console.log(onlyCheck ? `${name} is out of date: run npm run docs` : `wrote ${name}`);
const gaps = referenceGaps();
for (const gap of gaps) console.log(gap);
process.exit(gaps.length > 0 || (onlyCheck && stale.length > 0) ? 1 : 0);
