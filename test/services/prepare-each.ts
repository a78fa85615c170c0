import { MissingError } from './missing.ts';

type Step = () => Promise<unknown>;

/**
 * Runs every step. A step that fails is repeated after all others: a later step may have built the
 * same program, or the machine may be less busy. Returns one line for each step that failed twice.
 */
export async function prepareEach(steps: readonly Step[]): Promise<string[]> {
  const failed = await failedOf(steps);
  const failedAgain = await failedOf(failed.map(({ step }) => step));
  return failedAgain.map(({ reason }) => reason);
}

async function failedOf(steps: readonly Step[]): Promise<{ step: Step; reason: string }[]> {
  const failed: { step: Step; reason: string }[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof MissingError)) throw error;
      failed.push({ step, reason: error.message });
    }
  }
  return failed;
}
