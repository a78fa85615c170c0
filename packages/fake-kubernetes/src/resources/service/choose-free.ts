import type { Random } from '@causeway/base/simulation/random';

/** Numbers that Services hold, out of a range. */
export interface Pool {
  readonly size: number;
  isTaken(offset: number): boolean;
}

/**
 * A free number of a pool. Its lower part is left to those who ask for a certain number, so that their
 * choice is rarely taken already; it is used only when the upper part is full.
 */
export function chooseFree(pool: Pool, reserved: number, random: Random): number | undefined {
  const upper = firstFree(pool, reserved, pool.size, random);
  return upper ?? firstFree(pool, 0, reserved, random);
}

function firstFree(pool: Pool, from: number, to: number, random: Random): number | undefined {
  const count = to - from;
  if (count <= 0) return undefined;
  const start = Math.floor(random() * count);
  for (let step = 0; step < count; step += 1) {
    const offset = from + ((start + step) % count);
    if (!pool.isTaken(offset)) return offset;
  }
  return undefined;
}
