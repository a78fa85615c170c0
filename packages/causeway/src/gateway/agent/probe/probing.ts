import path from 'node:path';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Loop } from '@causeway/base/work/supervisor';
import type { AgentSettings } from '../settings.ts';
import { probeTcp } from './tcp-probe.ts';
import { keepProbeResultsFile, readKnownAnswers } from './probe-results-file.ts';
import { ProbeResults } from './probe-results.ts';
import { runProber } from './prober.ts';
import type { ProbeTargets } from './targets.ts';

export interface ProbingOptions {
  readonly clock: Clock;
  readonly log: Log;
  targets(): ProbeTargets;
  /** Called when the ledger judges somebody, or ourselves, differently. */
  onChange(): void;
}

/** Knocks at what is sent to, and remembers over restarts who answered. */
export class Probing {
  readonly ledger: ProbeResults;
  readonly #file: string;
  readonly #intervalMs: number;

  private constructor(file: string, intervalMs: number, ledger: ProbeResults) {
    this.#file = file;
    this.#intervalMs = intervalMs;
    this.ledger = ledger;
  }

  static async open({ probe, stateDirectory }: AgentSettings): Promise<Probing> {
    const file = path.join(stateDirectory, 'answers.json');
    const isOn = probe.intervalMs > 0;
    // Without probes nobody would ever be found to be back.
    const ledger = isOn
      ? new ProbeResults(probe, await readKnownAnswers(file))
      : new ProbeResults(probe);
    return new Probing(file, probe.intervalMs, ledger);
  }

  loops(options: ProbingOptions): Record<string, Loop> {
    const { clock, log } = options;
    const { ledger } = this;
    if (this.#intervalMs === 0) return {};
    return {
      probes: (signal) =>
        runProber(
          {
            clock,
            ledger,
            intervalMs: this.#intervalMs,
            targets: () => options.targets(),
            probeTcp: (target, limitMs, each) => probeTcp(clock, target, limitMs, each),
            onChange: () => options.onChange(),
          },
          signal,
        ),
      'stored answers': (signal) =>
        keepProbeResultsFile({ file: this.#file, ledger, clock, log }, signal),
    };
  }
}
