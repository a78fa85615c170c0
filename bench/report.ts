import type { Bar, Measurement } from './benchmark.ts';

/** One figure for JSON and for the table. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline: number | null;
  readonly ratio: number | null;
  readonly bar: string;
  readonly holds: boolean;
  readonly spread: readonly [number, number] | null;
}

export function judge(name: string, bar: Bar, measurement: Measurement): Figure {
  const { value, baseline } = measurement;
  const ratio = baseline === null ? null : value / baseline;
  const judged = bar.of === 'ratio' ? (ratio ?? Number.NaN) : value;
  const spread = measurement.spread ?? null;
  return {
    name,
    value,
    unit: bar.unit,
    baseline,
    ratio,
    bar: describeBar(bar),
    holds: isMet(bar, judged),
    spread,
  };
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

export function describeBar(bar: Bar): string {
  return bar.of === 'ratio'
    ? `${bar.comparison} ${bar.limit} x the baseline`
    : `${bar.comparison} ${bar.limit} ${bar.unit}`;
}

const short = (value: number) => Number(value.toPrecision(4)).toString();
const titles = ['figure', 'measured', 'baseline', 'ratio', 'over the repeats', 'bar', ''];

/** All figures of a run, in columns. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${short(figure.value)} ${figure.unit}`,
    figure.baseline === null ? '' : `${short(figure.baseline)} ${figure.unit}`,
    figure.ratio === null ? '' : short(figure.ratio),
    figure.spread === null ? '' : figure.spread.map(short).join(' to '),
    figure.bar,
    figure.holds ? 'holds' : 'BROKEN',
  ]);
  const lines = [titles, ...rows];
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
