import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { seededRandom } from '../../packages/base/src/simulation/random.ts';

/**
 * The embedded services draw random IDs, and much depends on their order. From a seed they are the same in
 * every run; named imports from `node:crypto` change with the module.
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

/** One seed of a search, or the requested number of seeds. */
function seedsOf(count: number): number[] {
  const one = process.env['CAUSEWAY_SEED'];
  if (one !== undefined) return [Number(one)];
  const asked = Number(process.env['CAUSEWAY_SCHEDULES'] ?? count);
  return Array.from({ length: asked }, (_, seed) => seed);
}

/**
 * Runs random schedules, each from its own seed: the same in every run, so that a failure repeats.
 * `CAUSEWAY_SCHEDULES=100000` runs more, `CAUSEWAY_SEED=17` runs one of them.
 */
export async function searchSchedules(
  name: string,
  count: number,
  run: (seed: number) => Promise<void>,
): Promise<void> {
  const seeds = seedsOf(count);
  for (const seed of seeds) {
    try {
      await withIdsFrom(seed, () => run(seed));
    } catch (cause) {
      const again = `CAUSEWAY_SEED=${seed} npm test -- test/simulation/${name}`;
      const said = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`seed ${seed}: ${said}\nto run it again: ${again}`, { cause });
    }
  }
  process.stdout.write(`${name}: ${seeds.length} schedules\n`);
}
