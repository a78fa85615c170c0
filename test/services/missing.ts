/** Something that a test needs and that this machine does not have: one line that says what and how to get it. */
export class MissingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MissingError';
  }
}

/**
 * Answers whether tests on a real service can run. Under CI a missing one is a failure; elsewhere
 * the tests are skipped, and the line says why.
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
