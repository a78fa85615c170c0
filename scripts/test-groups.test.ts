import { expect, it } from 'vitest';
import { suitesOf, type Suite } from './suites.ts';
import { runGroups } from './test-groups.ts';
import type { Outcome } from './test-outcome.ts';

const [template] = suitesOf('test');
const suite = (name: string, group: Suite['group']): Suite => {
  if (template === undefined) throw new Error('there are no suites');
  return { ...template, name, group };
};
const passed: Outcome = { passed: 1, failed: 0, skipped: 0, failedFiles: [] };

it('runs the suites of a group one after another, in parallel with the other group', async () => {
  const events: string[] = [];
  const kernel = Promise.withResolvers<Outcome>();
  const running = runGroups(
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

it('starts a suite when its programs are ready', async () => {
  const events: string[] = [];
  await runGroups([suite('unit', 'computing'), suite('kernel', 'waiting')], {
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

it('adds up the outcomes of the suites', async () => {
  const failure = { file: 'a.test.ts', tests: ['one', 'two'] };
  const outcome = await runGroups([suite('unit', 'computing'), suite('kernel', 'waiting')], {
    ready: async () => {},
    run: async ({ name }) =>
      name === 'unit'
        ? { passed: 3, failed: 0, skipped: 1, failedFiles: [] }
        : { passed: 4, failed: 2, skipped: 0, failedFiles: [failure] },
  });
  expect(outcome).toEqual({ passed: 7, failed: 2, skipped: 1, failedFiles: [failure] });
});
