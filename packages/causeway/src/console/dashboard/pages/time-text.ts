const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
];

/** Elapsed time in the largest unit that fits: `3 min`. Empty without a time. */
export function ago(at: string, now: number): string {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return '';
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  for (const [name, size] of units) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${name}`;
  }
  return `${seconds} s`;
}
