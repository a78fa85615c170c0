// Runs a benchmark and draws a profile: of the measuring process, or of one that it starts.
//
// npm run profile -- SUITE [--of WORD] WORD: selects the process with the most time in files with this word
// in the path

import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { flameGraph, hottest, type CpuProfile } from './flame.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { of: { type: 'string', default: 'src/' } },
});
const [suite] = positionals;
if (suite === undefined) {
  console.error('which benchmark? npm run bench -- --list names them');
  process.exit(2);
}
const directory = await scratchDirectory('profile');
try {
  await runProfiled(suite);
  const profile = await busiest(values.of);
  const file = path.join(import.meta.dirname, '..', 'docs', 'plots', `flame-${suite}.svg`);
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, flameGraph(profile, suite));
  for (const { place, share } of hottest(profile, 15)) {
    console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${place}`);
  }
  console.log(`drawn: ${path.relative(process.cwd(), file)}`);
} finally {
  await removeDirectory(directory);
}

async function runProfiled(name: string): Promise<void> {
  const main = path.join(import.meta.dirname, 'main.ts');
  const options = `--cpu-prof --cpu-prof-dir=${directory}`;
  const child = spawn(process.execPath, ['--expose-gc', main, name], {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: options },
  });
  await new Promise((resolve) => child.once('close', resolve));
}

/** The profile with the most time in files with this word in the path. */
async function busiest(word: string): Promise<CpuProfile> {
  let [best, most]: [CpuProfile | undefined, number] = [undefined, 0];
  for (const name of await fs.readdir(directory)) {
    const text = await fs.readFile(path.join(directory, name), 'utf8');
    // A killed process leaves an incomplete one.
    const profile = parsed(text);
    if (profile === undefined) continue;
    const time = timeIn(profile, word);
    if (time > most) [best, most] = [profile, time];
  }
  if (best === undefined) throw new Error(`no process used time in ${word}`);
  return best;
}

function parsed(text: string): CpuProfile | undefined {
  try {
    return JSON.parse(text) as CpuProfile;
  } catch {
    return undefined;
  }
}

function timeIn({ nodes, samples, timeDeltas }: CpuProfile, word: string): number {
  const chosen = new Set(
    nodes.filter(({ callFrame }) => callFrame.url.includes(word)).map(({ id }) => id),
  );
  return samples.reduce(
    (sum, id, index) => sum + (chosen.has(id) ? (timeDeltas[index] ?? 0) : 0),
    0,
  );
}
