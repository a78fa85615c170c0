import { MissingError } from './missing.ts';

export interface Step {
  /** Steps of the same name do the same. */
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

export interface Group {
  readonly name: string;
  readonly steps: readonly Step[];
}

interface Preparing {
  /** For each group, resolves when its steps have succeeded or failed. */
  readonly ready: ReadonlyMap<string, Promise<void>>;
  /** One line for each step that failed finally. */
  readonly missing: Promise<string[]>;
}

/**
 * Runs the steps of one group after another, each step once. A step that fails is repeated after the
 * others of its group, and by each further group that has it: a later step may have built the same
 * program, or the machine may be less busy.
 */
export function prepareInOrder(groups: readonly Group[]): Preparing {
  const succeeded = new Set<string>();
  const failed = new Map<string, string>();
  const attempt = async (steps: readonly Step[]) => {
    for (const { name, run } of steps) {
      if (succeeded.has(name)) continue;
      const reason = await missingReason(run);
      if (reason === undefined) succeeded.add(name);
      else failed.set(name, reason);
    }
  };
  const ready = new Map<string, Promise<void>>();
  let last = Promise.resolve();
  for (const { name, steps } of groups) {
    last = last.then(() => attempt(steps)).then(() => attempt(steps));
    ready.set(name, last);
  }
  const missing = last.then(() =>
    [...failed].filter(([name]) => !succeeded.has(name)).map(([, reason]) => reason),
  );
  return { ready, missing };
}

async function missingReason(run: Step['run']): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    return error.message;
  }
}
