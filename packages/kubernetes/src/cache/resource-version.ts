const digits = /^[1-9][0-9]*$/;

/**
 * Compares two resource versions: negative when the left one is older. Undefined when they cannot be
 * compared, because a server uses something else than growing numbers.
 */
export function compareResourceVersions(left: string, right: string): number | undefined {
  if (left === right) return 0;
  if (!digits.test(left) || !digits.test(right)) return undefined;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
