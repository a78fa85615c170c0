/** The first `x.y` or `x.y.z` in a text. */
export function findVersion(text: string): readonly number[] | undefined {
  const match = /(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?/.exec(text);
  return match?.slice(1).map((part) => Number(part ?? 0));
}

export function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  for (const [place, wanted] of least.entries()) {
    const found = version[place] ?? 0;
    if (found !== wanted) return found > wanted;
  }
  return true;
}
