// Runs the benchmarks: all of them, or the named ones.
// - npm run bench: all except the long ones
// - npm run bench -- NAME [NAME...]: these suites or figures
// - npm run bench -- --list: lists them
// - npm run bench -- --json FILE: writes the figures as JSON as well

import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchmarkSuite } from './benchmark.ts';
import { describeBar, judge, tableOf, type Figure } from './report.ts';

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean' }, json: { type: 'string' } },
});
const suites = await loadSuites();
if (options.list === true) {
  list();
} else {
  const figures = await measure(select());
  if (options.json !== undefined) {
    await fs.writeFile(options.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  }
  const broken = figures.filter((figure) => !figure.holds);
  console.log(`${figures.length - broken.length} of ${figures.length} bars hold`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}

async function loadSuites(): Promise<BenchmarkSuite[]> {
  const loaded: BenchmarkSuite[] = [];
  for await (const file of fs.glob('*.bench.ts', { cwd: import.meta.dirname })) {
    const module = (await import(path.join(import.meta.dirname, file))) as {
      suite: BenchmarkSuite;
    };
    loaded.push(module.suite);
  }
  return loaded.sort((left, right) => left.name.localeCompare(right.name));
}

function select(): BenchmarkSuite[] {
  if (names.length === 0) return suites.filter((suite) => suite.long !== true);
  return [
    ...new Set(
      names.map((name) => {
        const found = suites.find((suite) => suite.name === name || name in suite.bars);
        if (found === undefined) {
          console.error(`no benchmark is called ${JSON.stringify(name)}; --list names them`);
          process.exit(2);
        }
        return found;
      }),
    ),
  ];
}

function list(): void {
  for (const suite of suites) {
    console.log(`${suite.name}${suite.long === true ? '  (long: only by name)' : ''}`);
    for (const [name, bar] of Object.entries(suite.bars)) {
      console.log(`  ${name}  (${describeBar(bar)})`);
    }
  }
}

async function measure(chosen: readonly BenchmarkSuite[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const suite of chosen) {
    console.log(`\n${suite.name}`);
    const measurements = await suite.run();
    const ofSuite = Object.entries(suite.bars).map(([name, bar]) => {
      const measurement = measurements[name];
      if (measurement === undefined) throw new Error(`${suite.name} measured no ${name}`);
      return judge(name, bar, measurement);
    });
    // As soon as it is measured: a later failure of a suite does not discard it.
    process.stdout.write(tableOf(ofSuite));
    figures.push(...ofSuite);
  }
  return figures;
}
