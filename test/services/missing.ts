/** A missing requirement of a test: one line with its name and how to get it. */
export class MissingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MissingError';
  }
}

/** For a program that a user starts: a missing requirement ends it with one line. */
export async function orEnd<T>(prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare();
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    process.stderr.write(`causeway: ${error.message}\n`);
    process.exit(1);
  }
}

/**
 * Returns whether tests on a real service can run. Under CI a missing one is a failure; elsewhere the tests
 * are skipped, with the reason.
 */
export async function isAvailable(prepare: () => Promise<unknown>): Promise<boolean> {
  try {
    await prepare();
    return true;
  } catch (error) {
    if (!(error instanceof MissingError) || process.env['CI'] === 'true') throw error;
    process.stderr.write(`skipped: ${error.message}\n`);
    return false;
  }
}
