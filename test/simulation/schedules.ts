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
      await play(seed);
    } catch (cause) {
      const again = `CAUSEWAY_SEED=${seed} npm test -- test/simulation/${name}`;
      const said = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`seed ${seed}: ${said}\nto play it again: ${again}`, { cause });
    }
  }
  process.stdout.write(`${name}: ${seeds.length} schedules\n`);
}
