import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sleep } from '../time/clock.ts';
import { Simulation, type SimulatedProcess } from './simulation.ts';

/** Two writers that read a value and then write it plus one: the classic lost update. */
async function increment(process: SimulatedProcess, store: { value: number }): Promise<void> {
  const read = await process.call('read', () => store.value);
  await process.call('write', () => void (store.value = read + 1));
}

async function race(seed: number): Promise<{ value: number; trace: string[] }> {
  const simulation = new Simulation(seed);
  const store = { value: 0 };
  let ended = 0;
  for (const name of ['left', 'right']) {
    void increment(simulation.process(name), store).then(() => (ended += 1));
  }
  await simulation.runUntil(() => ended === 2);
  return { value: store.value, trace: simulation.trace };
}

test('replays the same order for the same seed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      expect(await race(seed)).toEqual(await race(seed));
    }),
    { numRuns: 30 },
  );
});

test('finds both the lost update and the correct result among the seeds', async () => {
  const values = new Set<number>();
  for (let seed = 0; seed < 50; seed += 1) values.add((await race(seed)).value);
  expect(values).toEqual(new Set([1, 2]));
});

test('advances time only if no step is waiting', async () => {
  const simulation = new Simulation(1);
  const process = simulation.process('p');
  const order: string[] = [];
  void sleep(process.clock, 10_000).then(() => order.push('timer'));
  void process.call('call', () => order.push('call'));
  await simulation.runUntil(() => order.length === 2);
  expect(order).toEqual(['call', 'timer']);
  expect(simulation.clock.monotonic()).toBe(10_000);
});

test.each([
  ['before', 0],
  ['after', 1],
] as const)(
  'lets a process killed %s its call leave %d effects and never continue',
  async (moment, effects) => {
    const simulation = new Simulation(7);
    const process = simulation.process('p');
    process.killAt(1, moment);
    let count = 0;
    let continued = false;
    void process.call('write', () => void (count += 1)).then(() => (continued = true));
    await simulation.runUntil(() => process.isKilled);
    await simulation.runFor(1_000);
    expect({ count, continued }).toEqual({ count: effects, continued: false });
  },
);

test('delivers nothing to a paused process until it resumes, while its sent calls take effect', async () => {
  const simulation = new Simulation(3);
  const process = simulation.process('p');
  const received: string[] = [];
  let count = 0;
  void process.call('write', () => void (count += 1)).then(() => received.push('answer'));
  process.clock.timer(1_000, () => received.push('timer'));
  process.clock.timer(2_000, () => received.push('cancelled')).cancel();
  process.pause();
  await simulation.runFor(5_000);
  expect({ count, received }).toEqual({ count: 1, received: [] });
  process.resume();
  await simulation.runFor(1);
  expect(received.sort()).toEqual(['answer', 'timer']);
});

test('reports the seed and the last steps if the goal is not reached', async () => {
  const simulation = new Simulation(42);
  void simulation.process('p').call('read', () => {});
  await expect(simulation.runUntil(() => false)).rejects.toThrow(/seed 42.*[\s\S]*p: read/);
});

test('with haste, also advances time while calls are running', async () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 200; seed += 1) {
    const simulation = new Simulation(seed, { hasteMs: 5_000 });
    const process = simulation.process('p');
    const order: string[] = [];
    process.clock.timer(1_000, () => order.push('timer'));
    void process.call('call', () => {}).then(() => order.push('answer'));
    await simulation.runUntil(() => order.length === 2);
    outcomes.add(order.join());
  }
  expect(outcomes).toEqual(new Set(['timer,answer', 'answer,timer']));
});

test('stops the monotonic clock of a suspended machine', async () => {
  const simulation = new Simulation(3);
  const process = simulation.process('p');
  const fired: number[] = [];
  process.clock.timer(1_000, () => fired.push(process.clock.monotonic()));
  await simulation.runFor(400);
  process.suspend();
  await simulation.runFor(30_000);
  expect(process.clock.monotonic()).toBe(400);
  expect(process.clock.wallTime()).toBe(simulation.clock.wallTime());
  process.resume();
  await simulation.runFor(500);
  expect(fired).toEqual([]);
  await simulation.runFor(200);
  expect(fired).toEqual([1_000]);
  expect(simulation.clock.monotonic()).toBe(31_100);
});
