import { describe, expect, it } from 'vitest';
import { type FailedFile, filesToRepeat, type Outcome, runAndRepeat } from './test-outcome.ts';

const outcomeOf = (passed: number, ...failedFiles: FailedFile[]): Outcome => ({
  passed,
  failed: failedFiles.flatMap(({ tests }) => tests).length,
  skipped: 0,
  failedFiles,
});
const failedFile = (file: string, ...tests: string[]): FailedFile => ({ file, tests });

/** Runs with given outcomes; records the files of each run. */
async function run(...outcomes: Outcome[]) {
  const runs: (readonly string[])[] = [];
  const lines: string[] = [];
  const outcome = await runAndRepeat({
    filters: ['place'],
    run: async (files) => {
      runs.push(files);
      const next = outcomes.shift();
      if (next === undefined) throw new Error('one run too many');
      return next;
    },
    print: (line) => lines.push(line),
  });
  return { outcome, runs, lines };
}

describe('a run of the tests', () => {
  it('fails when a test fails first and passes when it is repeated', async () => {
    const { outcome, runs, lines } = await run(
      outcomeOf(7, failedFile('test/kernel/a.test.ts', 'one')),
      outcomeOf(3),
    );
    expect(runs).toEqual([['place'], ['test/kernel/a.test.ts']]);
    expect(outcome).toMatchObject({ passed: 7, failed: 1 });
    expect(lines).toEqual(['flaky (failed, then passed): test/kernel/a.test.ts > one']);
  });

  it('counts a test that fails twice once', async () => {
    const failure = failedFile('test/kernel/a.test.ts', 'one');
    const { outcome, lines } = await run(outcomeOf(7, failure), outcomeOf(2, failure));
    expect(outcome).toMatchObject({ passed: 7, failed: 1 });
    expect(lines).toEqual(['failed twice: test/kernel/a.test.ts > one']);
  });

  it('names each test by its result', async () => {
    const { lines } = await run(
      outcomeOf(7, failedFile('a.test.ts', 'one', 'two')),
      outcomeOf(8, failedFile('a.test.ts', 'two')),
    );
    expect(lines).toEqual([
      'flaky (failed, then passed): a.test.ts > one',
      'failed twice: a.test.ts > two',
    ]);
  });

  it('repeats nothing when everything passed', async () => {
    const { outcome, runs } = await run(outcomeOf(7));
    expect([outcome.failed, runs.length]).toEqual([0, 1]);
  });
});

describe('the repeated files', () => {
  it('are none when many files fail', () => {
    const failures = ['a', 'b', 'c', 'd'].map((file) => failedFile(file, 'one'));
    expect(filesToRepeat(outcomeOf(0, ...failures))).toEqual([]);
  });

  it('leave out errors outside of files', () => {
    expect(filesToRepeat(outcomeOf(0, failedFile('', 'an error'), failedFile('a', 'one')))).toEqual(
      ['a'],
    );
  });
});
