const digits = /^[1-9][0-9]*$/;

/**
 * Compares two resource versions: negative if the left one is older. Undefined if they can't be compared,
 * because a server does not use growing numbers.
 */
export function compareResourceVersions(left: string, right: string): number | undefined {
  if (left === right) return 0;
  if (!digits.test(left) || !digits.test(right)) return undefined;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
