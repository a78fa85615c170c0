// Writes the generated reference pages. With --check it only says which of them are out of date.
//
//   npm run docs

import fs from 'node:fs/promises';
import path from 'node:path';
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
process.exit(onlyCheck && stale.length > 0 ? 1 : 0);
