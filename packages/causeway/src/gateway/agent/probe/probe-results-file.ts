import fs from 'node:fs/promises';
import { z } from 'zod';
import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { fromLegacyProbeResults } from '../store/legacy.ts';
import type { KnownAnswers, ProbeResults } from './probe-results.ts';

const storedAnswers = z.object({ answered: z.array(z.string()), unhealthy: z.array(z.string()) });
const writeEveryMs = 1_000;

/**
 * Reads which backends had answered and which were unhealthy. Without it, an agent that starts while a
 * node is down sends connections to that node. A file that can't be read counts as no file.
 */
export async function readKnownAnswers(file: string): Promise<KnownAnswers> {
  try {
    const text = await fs.readFile(file, 'utf8');
    const stored = storedAnswers.parse(fromLegacyProbeResults(JSON.parse(text)));
    return { answered: addresses(stored.answered), unhealthy: addresses(stored.unhealthy) };
  } catch {
    return { answered: [], unhealthy: [] };
  }
}

/** Writes the probe results to the file after changes, at most once a second. */
export async function keepProbeResultsFile(
  options: { file: string; ledger: ProbeResults; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { file, ledger, clock, log } = options;
  let written = 0;
  while (!signal.aborted) {
    await sleep(clock, writeEveryMs, signal);
    const { revision } = ledger;
    if (revision === written) continue;
    try {
      await replaceFile(file, JSON.stringify(ledger.known));
      written = revision;
    } catch (error) {
      log.warn({ error: CausewayError.from(error) }, 'could not write the probe results');
    }
  }
}

function addresses(texts: readonly string[]): Address[] {
  return texts.flatMap((text) => tryParseAddress(text) ?? []);
}
