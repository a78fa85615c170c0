import { CausewayError } from './error.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses `90s`, `1h30m` or `250ms` into milliseconds. A number alone is refused: of what? */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} is not a length of time`, {
      hint: 'Write it with its unit: 250ms, 90s, 10m, 1h30m, 7d.',
    });
  }
  return parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0),
    0,
  );
}
