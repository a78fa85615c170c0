import fs from 'node:fs/promises';
import { z } from 'zod';
import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { KnownAnswers, ProbeResults } from './probe-results.ts';

const storedAnswers = z.object({ answered: z.array(z.string()), silent: z.array(z.string()) });
const writeEveryMs = 1_000;

/**
 * Who had answered and who had fallen silent when it was written down. Without it, an agent that starts
 * while a node is dead could not miss that node, and would send to it. A file that can't be read is none.
 */
export async function readKnownAnswers(file: string): Promise<KnownAnswers> {
  try {
    const stored = storedAnswers.parse(JSON.parse(await fs.readFile(file, 'utf8')));
    return { answered: addresses(stored.answered), silent: addresses(stored.silent) };
  } catch {
    return { answered: [], silent: [] };
  }
}

/** Writes the ledger down whenever it has changed, but not at every single answer. */
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
      log.warn({ error: CausewayError.from(error) }, "who answers probes can't be written down");
    }
  }
}

function addresses(texts: readonly string[]): Address[] {
  return texts.flatMap((text) => tryParseAddress(text) ?? []);
}
