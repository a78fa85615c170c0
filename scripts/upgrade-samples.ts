// Writes samples of this version's stored state, for later versions to read: once for each release, after its
// version is set. Samples of other releases are left alone.
//
// node scripts/launch.js scripts/upgrade-samples.ts

import fs from 'node:fs/promises';
import path from 'node:path';
import { sampleKinds } from '../test/upgrade/kinds.ts';
import { meaningFile } from '../test/upgrade/sample-kind.ts';

const root = path.dirname(import.meta.dirname);
const { version } = JSON.parse(await fs.readFile(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
};

for (const { name, write, read } of sampleKinds) {
  const directory = path.join(root, 'test', 'upgrade', 'samples', version, name);
  await fs.rm(directory, { recursive: true, force: true });
  await fs.mkdir(directory, { recursive: true });
  await write(directory);
  // Reading may change the state, so a copy is read.
  const copy = `${directory}.read`;
  await fs.cp(directory, copy, { recursive: true });
  const meaning = await read(copy);
  await fs.rm(copy, { recursive: true });
  await fs.writeFile(
    path.join(directory, meaningFile),
    `${JSON.stringify(meaning, undefined, 2)}\n`,
  );
  console.log(`wrote ${path.relative(root, directory)}`);
}
