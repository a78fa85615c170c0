import { expect } from 'vitest';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { requireNetworkTools } from '../kernel/gateway/network.ts';
import { runSchedule, type RunOptions } from './run.ts';
import { describeStep } from './schedule.ts';
import { describeBroken, describeVerdict } from './verdict.ts';

/** Whether the programs of a run are there. */
export async function canRun(): Promise<boolean> {
  return (
    (await isAvailable(requireNetworkTools)) &&
    (await isAvailable(() => ensureProgram('kube-proxy')))
  );
}

/** The seed of a run, which `CAUSEWAY_SEED` replaces. */
export function seedOr(seed: number): number {
  return Number(process.env['CAUSEWAY_SEED'] ?? seed);
}

/** Runs a schedule, prints its figures, and fails with each connection that must not have broken. */
export async function expectKept(options: RunOptions): Promise<void> {
  const { layer, seed } = options;
  const result = await runSchedule(options);
  const steps = result.events.map(({ at, step }) => {
    return `${new Date(at).toISOString().slice(11, 19)} ${describeStep(step)}`;
  });
  const lines = [`layer ${layer}, seed ${seed}`, ...steps, describeVerdict(result)];
  process.stdout.write(`${lines.join('\n')}\n`);
  const unexpected = result.broken.filter(
    ({ knownLoss, path }) => knownLoss === undefined && path !== 'node with kube-proxy',
  );
  expect(unexpected.map(describeBroken), `layer ${layer}, seed ${seed}`).toEqual([]);
}
