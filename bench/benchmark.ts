/** A limit of a figure. `ratio` is value / baseline, both measured in the same run. */
export interface Bar {
  readonly of: 'ratio' | 'value';
  readonly comparison: 'at most' | 'at least' | 'exactly';
  readonly limit: number;
  /** Unit of value and baseline. */
  readonly unit: string;
}

export interface Measurement {
  readonly value: number;
  /** Null if the bar is a count or a size without a baseline. */
  readonly baseline: number | null;
  /** The lowest and highest ratio (or value) over the repeats. */
  readonly spread?: readonly [number, number];
}

/** One file in bench/: figures that share a set-up. Its figures appear under plain names. */
export interface BenchmarkSuite<Figure extends string = string> {
  readonly name: string;
  /** Long suites run only when named. */
  readonly long?: boolean;
  readonly bars: Readonly<Record<Figure, Bar>>;
  run(): Promise<Readonly<Record<Figure, Measurement>>>;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/**
 * Measures the subject and its baseline alternately, so that other load affects both alike, and returns the
 * repeat with the median ratio.
 */
export async function compare(
  repeats: number,
  subject: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<Measurement> {
  const pairs: { value: number; baseline: number; ratio: number }[] = [];
  for (let index = 0; index < repeats; index += 1) {
    const reference = await baseline();
    const value = await subject();
    pairs.push({ value, baseline: reference, ratio: value / reference });
  }
  pairs.sort((left, right) => left.ratio - right.ratio);
  const middle = pairs[Math.floor(pairs.length / 2)];
  const [first, last] = [pairs[0], pairs.at(-1)];
  if (middle === undefined || first === undefined || last === undefined) {
    throw new Error('a comparison needs at least one repeat');
  }
  return {
    value: middle.value,
    baseline: middle.baseline,
    spread: [first.ratio, last.ratio],
  };
}

/**
 * The median of many values against that of as many baselines, with the spread over groups of them, as if
 * each group had been measured alone.
 */
export function besideMedian(
  values: readonly number[],
  baselines: readonly number[],
  groups = 5,
): Measurement {
  const ratios = Array.from({ length: groups }, (_, group) => {
    const ofGroup = (all: readonly number[]) =>
      all.filter((_value, index) => Math.floor((index * groups) / all.length) === group);
    return median(ofGroup(values)) / median(ofGroup(baselines));
  });
  const spread = [Math.min(...ratios), Math.max(...ratios)] as const;
  return { value: median(values), baseline: median(baselines), spread };
}
