const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
];

/** The time since then in the largest unit that fits: ` for 3 min`. Empty if the time is not known. */
export function forAge(since: number | undefined, now: number): string {
  if (since === undefined) return '';
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  for (const [name, size] of units) {
    if (seconds >= size) return ` for ${Math.floor(seconds / size)} ${name}`;
  }
  return ` for ${seconds} s`;
}
