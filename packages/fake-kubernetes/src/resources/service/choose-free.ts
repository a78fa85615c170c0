import type { Random } from '@causeway/base/simulation/random';

/** Numbers of a range that Services have allocated. */
export interface Pool {
  readonly size: number;
  isTaken(offset: number): boolean;
}

/**
 * Chooses a free number. The lower part of the pool is reserved for explicit requests, so that these rarely
 * conflict. It is used only when the upper part is full.
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
