import { median } from '../benchmark.ts';

/** Growth of a cost. Every value is a ratio to a baseline that was measured in the same round. */
export interface Curve {
  readonly title: string;
  /** The growing quantity, along the horizontal axis. */
  readonly along: string;
  /** Meaning of 1. */
  readonly baseline: string;
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly at: number;
  /** The median over the rounds, the lowest and the highest. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** The measurements of a file of this directory: one or more curves that share a set-up, by name. */
export interface GrowthSuite {
  readonly name: string;
  run(): Promise<Readonly<Record<string, Curve>>>;
}

export const serviceCounts = [10, 100, 1_000, 10_000, 30_000] as const;

/** A subject that is measured at one place of one line. */
export interface Subject {
  readonly series: string;
  readonly at: number;
  measure(): Promise<number>;
}

/** Ratios by line and place, added round by round. */
export class Ratios {
  readonly #found = new Map<string, Map<number, number[]>>();

  add(series: string, at: number, ratio: number): void {
    const line = this.#found.get(series) ?? new Map<number, number[]>();
    this.#found.set(series, line);
    const ratios = line.get(at) ?? [];
    line.set(at, ratios);
    ratios.push(ratio);
  }

  series(): Series[] {
    return [...this.#found].map(([name, line]) => ({
      name,
      points: [...line].map(([at, ratios]) => ({
        at,
        ratio: median(ratios),
        low: Math.min(...ratios),
        high: Math.max(...ratios),
      })),
    }));
  }
}

/** Measures all subjects alternately, the baseline before each, so that other load affects all alike. */
export async function inRounds(
  rounds: number,
  subjects: readonly Subject[],
  baseline: (at: number) => Promise<number>,
): Promise<Series[]> {
  const ratios = new Ratios();
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) {
      const reference = await baseline(subject.at);
      ratios.add(subject.series, subject.at, (await subject.measure()) / reference);
    }
  }
  return ratios.series();
}
