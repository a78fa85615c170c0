import { z } from 'zod';
import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { fromLegacyProbeResults } from '../store/legacy.ts';
import { loadSmallFile } from '../store/small-file.ts';
import type { KnownAnswers, ProbeResults } from './probe-results.ts';

const nothingKnown = { answered: [], unhealthy: [] };
const storedAnswers = z.preprocess(
  fromLegacyProbeResults,
  z.object({ answered: z.array(z.string()), unhealthy: z.array(z.string()) }),
);
const writeEveryMs = 1_000;

/**
 * Reads which backends had answered and which were unhealthy. Without it, an agent that starts while a
 * node is down sends connections to that node. A damaged file is set aside and counts as no file.
 */
export async function readKnownAnswers(file: string, log: Log): Promise<KnownAnswers> {
  const { value, damage } = await loadSmallFile(file, storedAnswers, nothingKnown);
  if (damage !== undefined) log.error({ file }, damage);
  return { answered: addresses(value.answered), unhealthy: addresses(value.unhealthy) };
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
