/** One value at one time. */
export interface Sample {
  readonly seconds: number;
  readonly value: number;
}

export interface Flatness {
  readonly mean: number;
  /** Rise of the regression line from the first sample to the last. */
  readonly growth: number;
  /** Distance of samples from that line: twice the standard deviation. */
  readonly noise: number;
  /** Allowed growth. */
  readonly allowed: number;
  readonly isFlat: boolean;
}

/** The first part of a run fills caches and compiles; it is not representative. */
const warmUpShare = 1 / 3;
/** Of the mean: less than this in half an hour can't be distinguished from noise. */
const smallShare = 0.05;

/**
 * Whether a value stays flat: the line through the samples after the warm-up rises by no more than the noise,
 * a twentieth of the mean, or the slack, whichever is the most.
 */
export function judgeFlat(samples: readonly Sample[], slack = 0): Flatness {
  const judged = samples.slice(Math.floor(samples.length * warmUpShare));
  const [first, last] = [judged[0], judged.at(-1)];
  if (first === undefined || last === undefined || judged.length < 3)
    throw new RangeError(`${judged.length} samples are too few`);
  const meanOf = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const mean = meanOf(judged.map(({ value }) => value));
  const middle = meanOf(judged.map(({ seconds }) => seconds));
  const spread = judged.reduce((sum, { seconds }) => sum + (seconds - middle) ** 2, 0);
  const common = judged.reduce(
    (sum, { seconds, value }) => sum + (seconds - middle) * (value - mean),
    0,
  );
  const slope = spread === 0 ? 0 : common / spread;
  const distances = judged.map(({ seconds, value }) => value - mean - slope * (seconds - middle));
  const noise = 2 * Math.sqrt(meanOf(distances.map((distance) => distance ** 2)));
  const growth = slope * (last.seconds - first.seconds);
  const allowed = Math.max(noise, smallShare * mean, slack);
  return { mean, growth, noise, allowed, isFlat: growth <= allowed };
}
