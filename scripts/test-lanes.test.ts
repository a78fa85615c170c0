import { expect, it } from 'vitest';
import { suitesOf, type Suite } from './suites.ts';
import { runLanes } from './test-lanes.ts';
import type { Outcome } from './test-outcome.ts';

const [template] = suitesOf('test');
const suite = (name: string, lane: Suite['lane']): Suite => {
  if (template === undefined) throw new Error('there are no suites');
  return { ...template, name, lane };
};
const passed: Outcome = { passed: 1, failed: 0, skipped: 0, failedFiles: [] };

it('runs the suites of a lane one after another, beside those of the other lane', async () => {
  const events: string[] = [];
  const kernel = Promise.withResolvers<Outcome>();
  const running = runLanes(
    [suite('unit', 'computing'), suite('contract', 'computing'), suite('kernel', 'waiting')],
    {
      ready: async () => {},
      run: async ({ name }) => {
        events.push(name);
        return name === 'kernel' ? kernel.promise : passed;
      },
    },
  );
  await expect.poll(() => events.toSorted()).toEqual(['contract', 'kernel', 'unit']);
  expect(events.indexOf('unit')).toBeLessThan(events.indexOf('contract'));
  kernel.resolve(passed);
  expect((await running).passed).toBe(3);
});

it('starts a suite when its programs are there', async () => {
  const events: string[] = [];
  await runLanes([suite('unit', 'computing'), suite('kernel', 'waiting')], {
    ready: async ({ name }) => {
      await Promise.resolve();
      events.push(`ready ${name}`);
    },
    run: async ({ name }) => {
      events.push(`run ${name}`);
      return passed;
    },
  });
  expect(events.indexOf('ready kernel')).toBeLessThan(events.indexOf('run kernel'));
});

it('adds up what the suites say', async () => {
  const failure = { file: 'a.test.ts', tests: ['one', 'two'] };
  const outcome = await runLanes([suite('unit', 'computing'), suite('kernel', 'waiting')], {
    ready: async () => {},
    run: async ({ name }) =>
      name === 'unit'
        ? { passed: 3, failed: 0, skipped: 1, failedFiles: [] }
        : { passed: 4, failed: 2, skipped: 0, failedFiles: [failure] },
  });
  expect(outcome).toEqual({ passed: 7, failed: 2, skipped: 1, failedFiles: [failure] });
});
