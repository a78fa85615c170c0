import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { seededRandom } from '../../packages/base/src/simulation/random.ts';

/**
 * The embedded services draw ids, and much goes by their order. From a seed they are the same in every run;
 * what is imported from `node:crypto` by its name changes with the module.
 */
async function withIdsFrom(seed: number, work: () => Promise<void>): Promise<void> {
  const { randomUUID } = crypto;
  const random = seededRandom(seed);
  const digits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
  const seeded = () => `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`;
  Object.assign(crypto, { randomUUID: seeded });
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(crypto, { randomUUID });
    syncBuiltinESMExports();
  }
}

/** One seed of a search, or as many as it is asked for. */
function seedsOf(count: number): number[] {
  const one = process.env['CAUSEWAY_SEED'];
  if (one !== undefined) return [Number(one)];
  const asked = Number(process.env['CAUSEWAY_SCHEDULES'] ?? count);
  return Array.from({ length: asked }, (_, seed) => seed);
}

/**
 * Runs random schedules, each from a seed of its own: the same in every run, so that what fails does so
 * again. `CAUSEWAY_SCHEDULES=100000` looks further, `CAUSEWAY_SEED=17` plays one of them.
 */
export async function searchSchedules(
  name: string,
  count: number,
  play: (seed: number) => Promise<void>,
): Promise<void> {
  const seeds = seedsOf(count);
  for (const seed of seeds) {
    try {
      await withIdsFrom(seed, () => play(seed));
    } catch (cause) {
      const again = `CAUSEWAY_SEED=${seed} npm test -- test/simulation/${name}`;
      const said = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`seed ${seed}: ${said}\nto play it again: ${again}`, { cause });
    }
  }
  process.stdout.write(`${name}: ${seeds.length} schedules\n`);
}
