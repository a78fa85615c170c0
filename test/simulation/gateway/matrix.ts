import { expect, test } from 'vitest';
import { callsOf, interrupt } from './interruption.ts';
import type { Scenario } from './scenario.ts';

/** The result of an interruption, and the outside calls of operations that it applies to. */
export interface Line<Name extends string> {
  readonly says: string;
  readonly calls: Partial<Record<Name, RegExp>>;
}

/**
 * One test for each line: the operation is interrupted before and after each call of the line. A call belongs
 * to the first line that names it, and a call without a line fails the suite.
 */
export function interruptionMatrix<Name extends string>(
  scenarios: Readonly<Record<Name, Scenario>>,
  lines: readonly Line<Name>[],
): void {
  const enumerated = new Map<Name, Promise<readonly string[]>>();
  const callsIn = (name: Name): Promise<readonly string[]> => {
    const calls = enumerated.get(name) ?? callsOf(scenarios[name]);
    enumerated.set(name, calls);
    return calls;
  };
  const lineOf = (name: Name, label: string): Line<Name> | undefined =>
    lines.find(({ calls }) => calls[name]?.test(label) === true);
  for (const line of lines) {
    test(`if interrupted: ${line.says}`, async () => {
      for (const name of Object.keys(line.calls) as Name[]) {
        const calls = await callsIn(name);
        const mine = [...calls.entries()].filter(([, label]) => lineOf(name, label) === line);
        expect(mine.length, `calls of "${name}"`).toBeGreaterThan(0);
        for (const [index, label] of mine) {
          for (const moment of ['before', 'after'] as const) {
            await interrupt(scenarios[name], index + 1, moment).catch((cause: unknown) => {
              const what = `"${name}" interrupted ${moment} its call ${index + 1}, ${label}`;
              throw new Error(`${what}:\n${String(cause)}`, { cause });
            });
          }
        }
      }
    });
  }

  test('every outside call of every operation belongs to a line', async () => {
    const stale: string[] = [];
    for (const name of Object.keys(scenarios) as Name[]) {
      const calls = await callsIn(name);
      const unnamed = calls.filter((label) => lineOf(name, label) === undefined);
      stale.push(...unnamed.map((label) => `${name}: ${label}`));
    }
    expect(stale).toEqual([]);
  });
}
