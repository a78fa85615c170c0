/** A test file with failed tests, from one run of the test runner. */
export interface FailedFile {
  /** Empty for an error outside of any file. */
  readonly file: string;
  readonly tests: readonly string[];
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failedFiles: readonly FailedFile[];
}

/** With more failed files, the cause is common to them, and a repetition does not help. */
const mostFilesRepeated = 3;

/** The files that are run a second time, to find out whether they are flaky. */
export function filesToRepeat(outcome: Outcome): string[] {
  const files = outcome.failedFiles.map(({ file }) => file).filter((file) => file !== '');
  return files.length > mostFilesRepeated ? [] : files;
}

export interface TestRun {
  /** Parts of paths: the files that run. Empty means all files. */
  readonly filters: readonly string[];
  readonly run: (filters: readonly string[]) => Promise<Outcome>;
  readonly print: (line: string) => void;
}

/**
 * Runs the tests, and repeats failed files once to print whether they are flaky. A failed test fails the run,
 * regardless of its repetition.
 */
export async function runAndRepeat({ filters, run, print }: TestRun): Promise<Outcome> {
  const first = await run(filters);
  const files = filesToRepeat(first);
  if (files.length === 0) return first;
  const second = await run(files);
  for (const line of repetitionLines(first, second)) print(line);
  return first;
}

function repetitionLines(first: Outcome, second: Outcome): string[] {
  const repeated = new Set(filesToRepeat(first));
  const failedAgain = new Set(failedTests(second));
  return failedTests({
    failedFiles: first.failedFiles.filter(({ file }) => repeated.has(file)),
  }).map((name) =>
    failedAgain.has(name) ? `failed twice: ${name}` : `flaky (failed, then passed): ${name}`,
  );
}

function failedTests({ failedFiles }: Pick<Outcome, 'failedFiles'>): string[] {
  return failedFiles.flatMap(({ file, tests }) => tests.map((test) => `${file} > ${test}`));
}
