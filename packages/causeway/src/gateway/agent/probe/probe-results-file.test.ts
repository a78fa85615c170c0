import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { keepProbeResultsFile, readKnownAnswers } from './probe-results-file.ts';
import { ProbeResults } from './probe-results.ts';

const thresholds = { fall: 2, rise: 2 };
const [dead, alive, unheard] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(parseAddress) as [
  Address,
  Address,
  Address,
];
let directory: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-ledger-'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

test('keeps unhealthy backends and earlier answers over a restart', async () => {
  const file = path.join(directory, 'answers.json');
  const before = new ProbeResults(thresholds, await readKnownAnswers(file, discardLog));
  for (const isUp of [true, false, false]) {
    before.record(dead, isUp);
    before.record(alive, true);
    before.record(unheard, false);
  }
  const stop = new AbortController();
  const options = { file, ledger: before, clock: systemClock, log: discardLog };
  const keeping = keepProbeResultsFile(options, stop.signal).catch(() => undefined);
  await vi.waitFor(() => fs.access(file), { timeout: 60_000, interval: 20 });
  stop.abort();
  await keeping;

  const after = new ProbeResults(thresholds, await readKnownAnswers(file, discardLog));
  expect([...after.unhealthy]).toEqual([dead]);
  expect(after.heard).toBe(2);
  expect([after.record(dead, false), after.record(dead, true)]).toEqual([false, false]);
  expect(after.record(dead, true)).toBe(true);
  expect([after.record(alive, false), after.record(alive, false)]).toEqual([false, true]);
  expect([after.record(unheard, false), after.record(unheard, false)]).toEqual([false, false]);
  expect([...after.unhealthy]).toEqual([alive]);
});

test.each([
  ['no content', undefined],
  ['truncated JSON', '{"answered":'],
  ['another type', '[]'],
])('ignores a file with %s', async (_name, text) => {
  const file = path.join(directory, 'answers.json');
  if (text !== undefined) await fs.writeFile(file, text);
  expect(await readKnownAnswers(file, discardLog)).toEqual({ answered: [], unhealthy: [] });
});
