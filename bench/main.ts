// Runs the benchmarks: all of them, or those named.
//
//   npm run bench                      all but the long ones
//   npm run bench -- NAME [NAME...]    those suites or figures
//   npm run bench -- --list            what there is
//   npm run bench -- --json FILE       the figures as JSON as well

import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Bar, BenchmarkSuite, Measurement } from './benchmark.ts';

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly baseline: number | null;
  readonly ratio: number | null;
  readonly bar: string;
  readonly holds: boolean;
  readonly spread: readonly [number, number] | null;
}

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
    for (const [name, bar] of Object.entries(suite.bars)) {
      const measurement = measurements[name];
      if (measurement === undefined) throw new Error(`${suite.name} measured no ${name}`);
      const figure = judge(name, bar, measurement);
      figures.push(figure);
      console.log(describe(figure, bar));
    }
  }
  return figures;
}

function judge(name: string, bar: Bar, measurement: Measurement): Figure {
  const { value, baseline } = measurement;
  const ratio = baseline === null ? null : value / baseline;
  const judged = bar.of === 'ratio' ? (ratio ?? Number.NaN) : value;
  const holds = isMet(bar, judged);
  const spread = measurement.spread ?? null;
  return { name, value, baseline, ratio, bar: describeBar(bar), holds, spread };
}

function isMet({ comparison, limit }: Bar, judged: number): boolean {
  switch (comparison) {
    case 'at most':
      return judged <= limit;
    case 'at least':
      return judged >= limit;
    case 'exactly':
      return judged === limit;
  }
}

function describeBar(bar: Bar): string {
  return bar.of === 'ratio'
    ? `${bar.comparison} ${bar.limit} x the baseline`
    : `${bar.comparison} ${bar.limit} ${bar.unit}`;
}

function describe(figure: Figure, bar: Bar): string {
  const number = (value: number) => Number(value.toPrecision(4)).toString();
  const beside =
    figure.baseline === null || figure.ratio === null
      ? ''
      : ` beside ${number(figure.baseline)} ${bar.unit}, ratio ${number(figure.ratio)}`;
  const spread =
    figure.spread === null ? '' : ` (${figure.spread.map(number).join(' to ')} over the repeats)`;
  const verdict = figure.holds ? 'holds ' : 'BROKEN';
  return `  ${verdict} ${figure.name}: ${number(figure.value)} ${bar.unit}${beside}${spread}; bar: ${figure.bar}`;
}
