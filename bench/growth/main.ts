// Measures how costs grow and draws the curves of the docs: all of them, or the named suites.
// - npm run growth: all
// - npm run growth -- NAME [NAME...]: the named ones
// - npm run growth -- --draw: draws the last measurements again

import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Curve, GrowthSuite } from './curve.ts';
import { plot } from './plot.ts';

const directory = path.join(import.meta.dirname, '..', '..', 'docs', 'plots');
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { draw: { type: 'boolean' } },
});

await fs.mkdir(directory, { recursive: true });
if (options.draw === true) {
  for await (const file of fs.glob('*.json', { cwd: directory })) {
    const text = await fs.readFile(path.join(directory, file), 'utf8');
    await draw(path.basename(file, '.json'), JSON.parse(text) as Curve);
  }
} else {
  for (const suite of await chosen()) {
    console.log(`\n${suite.name}`);
    for (const [name, curve] of Object.entries(await suite.run())) {
      print(name, curve);
      const text = `${JSON.stringify(curve, rounded, 2)}\n`;
      await fs.writeFile(path.join(directory, `${name}.json`), text);
      await draw(name, curve);
    }
  }
}

async function chosen(): Promise<GrowthSuite[]> {
  const suites: GrowthSuite[] = [];
  for await (const file of fs.glob('*.growth.ts', { cwd: import.meta.dirname })) {
    const module = (await import(path.join(import.meta.dirname, file))) as { suite: GrowthSuite };
    suites.push(module.suite);
  }
  suites.sort((left, right) => left.name.localeCompare(right.name));
  if (names.length === 0) return suites;
  return names.map((name) => {
    const found = suites.find((suite) => suite.name === name);
    if (found !== undefined) return found;
    console.error(`no suite ${name}; there are ${suites.map((suite) => suite.name).join(', ')}`);
    process.exit(2);
  });
}

async function draw(name: string, curve: Curve): Promise<void> {
  await fs.writeFile(path.join(directory, `${name}.svg`), plot(curve));
}

function print(name: string, { title, along, baseline, series }: Curve): void {
  console.log(`  ${name}: ${title}, x ${baseline}`);
  for (const { name: line, points } of series) {
    for (const { at, ratio, low, high } of points) {
      const spread = `${low.toPrecision(3)} to ${high.toPrecision(3)}`;
      console.log(`    ${line}, ${at} ${along}: ${ratio.toPrecision(3)} x (${spread})`);
    }
  }
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
